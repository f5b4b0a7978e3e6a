#pragma once
#include <cstdint>
#include <memory>
#include <string>

#include "convoke/archive/byte_reader.hpp"

namespace convoke::archive {

/// A regular file within a tar archive.
struct TarMember {
  std::string name = {};
  std::uint64_t offset = 0;  ///< of its first byte in the (unpacked) archive
  std::uint64_t bytes = 0;
};

/// Reads the regular files of a tar archive in order: ustar, and the long names and large sizes of GNU tar
/// and of pax (POSIX.1-2001, "pax Interchange Format"). Skips folders, links and devices.
///
/// The samples of a shard are read at their offsets, so that each process reads its own; libarchive can only
/// read members in order from the first one.
class TarReader {
 public:
  /// `bytes` must outlive the reader.
  explicit TarReader(ByteReader& bytes) : bytes_(bytes) {}

  /// Finds the next file; false at the end. Throws Error naming the archive if it is not a tar archive, is
  /// damaged or truncated.
  bool next(TarMember& member);

 private:
  ByteReader& bytes_;
  std::uint64_t at_ = 0;
};

}  // namespace convoke::archive
