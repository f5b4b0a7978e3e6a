#include "convoke/data_prep/files/byte_reader.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "convoke/core/error.hpp"
#include "convoke/data_prep/files/inflated.hpp"

namespace convoke::data_prep {
namespace {

std::string reason() { return std::generic_category().message(errno); }

class PlainFile final : public ByteReader {
 public:
  explicit PlainFile(const std::filesystem::path& file)
      : ByteReader(file.string()), descriptor_(::open(file.c_str(), O_RDONLY | O_CLOEXEC)) {
    struct stat facts {};
    if (descriptor_ < 0 || ::fstat(descriptor_, &facts) != 0) {
      const std::string why = reason();
      close();
      throw Error(fmt::format("{}: cannot be opened: {}", name(), why));
    }
    if (S_ISDIR(facts.st_mode)) {
      close();
      throw Error(fmt::format("{}: cannot be opened: it is a folder", name()));
    }
    size_ = static_cast<std::uint64_t>(facts.st_size);
  }
  PlainFile(const PlainFile&) = delete;
  PlainFile& operator=(const PlainFile&) = delete;
  ~PlainFile() override { close(); }

  std::optional<std::uint64_t> size() const override { return size_; }

  std::size_t read_some(std::uint64_t offset, std::span<std::byte> bytes) override {
    std::size_t done = 0;
    while (done < bytes.size()) {
      const ::ssize_t got =
          ::pread(descriptor_, bytes.data() + done, bytes.size() - done, static_cast<::off_t>(offset + done));
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) throw Error(fmt::format("{}: cannot be read: {}", name(), reason()));
      if (got == 0) break;
      done += static_cast<std::size_t>(got);
    }
    return done;
  }

 private:
  void close() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }

  int descriptor_ = -1;
  std::uint64_t size_ = 0;
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

}  // namespace convoke::data_prep
