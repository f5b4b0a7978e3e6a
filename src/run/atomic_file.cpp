#include "convoke/run/atomic_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <system_error>

#include "convoke/core/error.hpp"

namespace convoke::run {
namespace {

std::string last_error() { return std::generic_category().message(errno); }

// What was written is on disk when this returns; also that of a folder: its entries.
void sync(const std::filesystem::path& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) throw Error(last_error());
  const int failed = ::fsync(file);
  const int reason = errno;
  ::close(file);
  // Some file systems cannot sync a folder and say so; the data itself was synced before.
  if (failed != 0 && reason != EINVAL) throw Error(std::generic_category().message(reason));
}

}  // namespace

void replace_file(const std::filesystem::path& target,
                  const std::function<void(const std::filesystem::path& temporary)>& write) {
  const std::filesystem::path temporary = target.string() + ".tmp";
  try {
    write(temporary);
    sync(temporary);
    std::filesystem::rename(temporary, target);
    sync(target.has_parent_path() ? target.parent_path() : ".");
  } catch (const std::exception& error) {
    std::error_code ignored;
    std::filesystem::remove(temporary, ignored);
    throw Error(fmt::format("{}: cannot be written: {}", target.string(), error.what()),
                std::filesystem::exists(target, ignored)
                    ? "the file of that name is still as it was; is the disk full?"
                    : "is the disk full, or the folder read-only?");
  }
}

void replace_text(const std::filesystem::path& target, std::string_view text) {
  replace_file(target, [&](const std::filesystem::path& temporary) {
    std::ofstream file(temporary, std::ios::binary);
    file.write(text.data(), static_cast<std::streamsize>(text.size()));
    file.close();
    if (!file) throw Error(last_error());
  });
}

}  // namespace convoke::run
