#pragma once
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <vector>

#include "convoke/data_prep/files/byte_reader.hpp"

namespace convoke::data_prep {

/// One IDX file of bytes, plain or gzipped: magic number 0x00000800 + axes, the extents as 32-bit big-endian
/// numbers, then the values. Read from front to back.
class IdxFile {
 public:
  /// Reads the header. `what` is the word for its items in messages. Throws Error: missing, wrong magic
  /// number, truncated.
  IdxFile(const std::filesystem::path& file, std::size_t axes, const char* what);

  const std::filesystem::path& file() const { return file_; }
  /// Items, then the extents of an item.
  const std::vector<std::int64_t>& extents() const { return extents_; }

  /// Items first, first + 1, ...: as many as the span holds. Going back begins anew, going forward reads what
  /// is between. With the last item, the end of the file is checked too: gzip's checksum and that nothing
  /// follows.
  void read(std::int64_t first, std::span<std::uint8_t> values);

 private:
  std::filesystem::path file_;
  std::unique_ptr<ByteReader> bytes_;
  std::vector<std::int64_t> extents_;
  std::uint64_t header_bytes_ = 0;
  std::uint64_t item_bytes_ = 0;
};

}  // namespace convoke::data_prep
