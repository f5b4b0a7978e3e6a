#pragma once
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <vector>

struct gzFile_s;

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
  struct Close {
    void operator()(gzFile_s* file) const;
  };

  void read_bytes(std::span<std::uint8_t> bytes);
  void seek(std::uint64_t offset);
  void expect_end();

  std::filesystem::path file_;
  std::unique_ptr<gzFile_s, Close> stream_;
  std::vector<std::int64_t> extents_;
  std::uint64_t header_bytes_ = 0;
  std::uint64_t item_bytes_ = 0;
  std::uint64_t position_ = 0;  // in the unpacked stream
};

}  // namespace convoke::data_prep
