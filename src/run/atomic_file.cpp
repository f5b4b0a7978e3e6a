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

void require_replaceable(const std::filesystem::path& name) {
  namespace fs = std::filesystem;
  const std::string hint = "name a regular file, or one that is not there yet";
  std::error_code failed;
  const fs::file_status there = fs::status(name, failed);
  if (!fs::exists(there)) return;
  if (fs::is_directory(there)) throw Error(name.string() + ": is a folder", hint);
  if (!fs::is_regular_file(there)) {
    throw Error(name.string() + ": is a device or a pipe, and no file that another could replace", hint);
  }
  // /dev/stdout, for one: what is printed would go into a file that has no name any more.
  for (const char* stream : {"/proc/self/fd/1", "/proc/self/fd/2"}) {
    if (fs::equivalent(name, stream, failed)) {
      throw Error(name.string() + ": is where this program prints", hint);
    }
  }
}

void replace_file(const std::filesystem::path& name,
                  const std::function<void(const std::filesystem::path& temporary)>& write) {
  require_replaceable(name);
  // A symbolic link stays one.
  const std::filesystem::path target =
      std::filesystem::is_symlink(name) ? std::filesystem::weakly_canonical(name) : name;
  const std::filesystem::path temporary = target.string() + ".tmp";
  try {
    write(temporary);
    sync(temporary);
    std::filesystem::rename(temporary, target);
    sync(target.has_parent_path() ? target.parent_path() : ".");
  } catch (const std::exception& error) {
    std::error_code ignored;
    std::filesystem::remove(temporary, ignored);
    throw Error(fmt::format("{}: cannot be written: {}", name.string(), error.what()),
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
