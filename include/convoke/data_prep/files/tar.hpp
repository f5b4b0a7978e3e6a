#pragma once
#include <cstdint>
#include <memory>
#include <string>

#include "convoke/data_prep/files/byte_reader.hpp"

namespace convoke::data_prep {

/// A regular file within a tar archive.
struct TarMember {
  std::string name = {};
  std::uint64_t offset = 0;  ///< of its first byte in the (unpacked) archive
  std::uint64_t bytes = 0;
};

/// The regular files of a tar archive, one after the other: ustar, and the long names and large sizes of GNU
/// tar and of pax (POSIX.1-2001, "pax Interchange Format"). Folders, links and devices are passed over.
///
/// A shard's samples are read where they lie, at their offset, so that each process reads its own; libarchive
/// hands members out from the first one on only.
class TarReader {
 public:
  /// `bytes` must live as long.
  explicit TarReader(ByteReader& bytes) : bytes_(bytes) {}

  /// The next one; false at the end. Throws Error naming the archive: no tar archive, damaged, cut short.
  bool next(TarMember& member);

 private:
  ByteReader& bytes_;
  std::uint64_t at_ = 0;
};

}  // namespace convoke::data_prep
