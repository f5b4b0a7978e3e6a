#include "convoke/archive/byte_reader.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "convoke/archive/inflated.hpp"
#include "convoke/core/error.hpp"
#include "convoke/os/file.hpp"

namespace convoke::archive {
namespace {

class PlainFile final : public ByteReader {
 public:
  explicit PlainFile(const std::filesystem::path& file)
      : ByteReader(file.string()), file_(file, os::Access::kRead), size_(file_.size()) {
    if (std::filesystem::is_directory(file)) {
      throw Error(fmt::format("{}: cannot be opened: it is a folder", name()));
    }
  }

  std::optional<std::uint64_t> size() const override { return size_; }
  std::optional<std::uint64_t> offset_in_file() const override { return 0; }

  std::size_t read_some(std::uint64_t offset, std::span<std::byte> bytes) override {
    return file_.read_some_at(offset, bytes);
  }

 private:
  os::File file_;
  std::uint64_t size_;
};

}  // namespace

void ByteReader::read(std::uint64_t offset, std::span<std::byte> bytes) {
  const std::size_t got = read_some(offset, bytes);
  if (got < bytes.size()) {
    const std::uint64_t end = offset + got;
    throw Error(
        fmt::format("{}: is truncated: it ends after {} bytes", name_, std::min(end, size().value_or(end))),
        "get it again, and compare its size");
  }
}

std::unique_ptr<ByteReader> open_plain(const std::filesystem::path& file) {
  return std::make_unique<PlainFile>(file);
}

std::unique_ptr<ByteReader> open_bytes(const std::filesystem::path& file) {
  auto plain = open_plain(file);
  return file.extension() == ".gz" || begins_as_gzip(*plain) ? open_gzip(file) : std::move(plain);
}

}  // namespace convoke::archive
