#pragma once
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <vector>

#include "convoke/archive/byte_reader.hpp"

namespace convoke::data_prep {

/// An IDX file of bytes, plain or gzipped: magic number 0x00000800 + axes, the extents as 32-bit big-endian
/// numbers, then the values. Read from front to back.
class IdxFile {
 public:
  /// Reads the header. `what` is the word for its items in messages. Throws Error if the file is missing,
  /// truncated, or has a wrong magic number.
  IdxFile(const std::filesystem::path& file, std::size_t axes, const char* what);

  const std::filesystem::path& file() const { return file_; }
  /// Number of items, then the extents of an item.
  const std::vector<std::int64_t>& extents() const { return extents_; }

  /// Reads the items first, first + 1, ...: as many as the span holds. Going back restarts at the beginning;
  /// going forward reads the items between. After the last item it checks the end of the file: gzip's
  /// checksum, and that no bytes follow.
  void read(std::int64_t first, std::span<std::uint8_t> values);

 private:
  std::filesystem::path file_;
  std::unique_ptr<archive::ByteReader> bytes_;
  std::vector<std::int64_t> extents_;
  std::uint64_t header_bytes_ = 0;
  std::uint64_t item_bytes_ = 0;
};

}  // namespace convoke::data_prep
