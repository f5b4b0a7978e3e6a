#include "convoke/data/positioned_io.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "convoke/core/error.hpp"

namespace convoke::data {

int open_descriptor(const std::filesystem::path& file, int flags) {
  constexpr mode_t kMode = 0666;  // of a file that is made
  const int descriptor = ::open(file.c_str(), flags | O_CLOEXEC, kMode);
  if (descriptor < 0)
    throw Error(
        fmt::format("{}: cannot be opened: {}", file.string(), std::generic_category().message(errno)));
  return descriptor;
}

void read_at(int descriptor, std::uint64_t offset, std::span<std::byte> bytes,
             const std::filesystem::path& file) {
  while (!bytes.empty()) {
    const ssize_t got = ::pread(descriptor, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) {
      throw Error(
          fmt::format("{}: cannot be read: {}", file.string(), std::generic_category().message(errno)));
    }
    if (got == 0) {
      throw Error(fmt::format("{}: is truncated: it ends at byte {}, {} bytes early", file.string(), offset,
                              bytes.size()));
    }
    bytes = bytes.subspan(static_cast<std::size_t>(got));
    offset += static_cast<std::uint64_t>(got);
  }
}

void write_at(int descriptor, std::uint64_t offset, std::span<const std::byte> bytes,
              const std::filesystem::path& file) {
  while (!bytes.empty()) {
    const ssize_t put = ::pwrite(descriptor, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) {
      throw Error(
          fmt::format("{}: cannot be written: {}", file.string(), std::generic_category().message(errno)),
          "make room on the disk, or write elsewhere");
    }
    bytes = bytes.subspan(static_cast<std::size_t>(put));
    offset += static_cast<std::uint64_t>(put);
  }
}

}  // namespace convoke::data
