#include "convoke/os/atomic_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <random>
#include <system_error>

#include "convoke/core/error.hpp"
#include "convoke/os/file.hpp"

namespace convoke::os {
namespace {

constexpr const char* kWhyNotWritten =
    "is the disk full, a limit reached (quota, ulimit -f), or the folder read-only?";

namespace fs = std::filesystem;

constexpr std::string_view kEnding = ".tmp";
constexpr std::size_t kDigits = 12, kLongestName = 200;  // of 255 bytes that a name may have

// A file cannot be renamed over a folder, and a folder only over an empty one.
std::error_code rename_over(const fs::path& from, const fs::path& to) {
  std::error_code error;
  if (!fs::exists(to, error) || (!fs::is_directory(from, error) && !fs::is_directory(to, error))) {
    fs::rename(from, to, error);
    return error;
  }
  if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_EXCHANGE) != 0) {
    // This file system cannot exchange: for a moment neither exists.
    const fs::path old = make_temporary(to);
    fs::remove(old, error);
    fs::rename(to, old, error);
    if (error) return error;
    fs::rename(from, to, error);
    if (std::error_code unknown; error) fs::rename(old, to, unknown);  // as before
    if (error) return error;
    fs::remove_all(old, error);
    return {};
  }
  fs::remove_all(from, error);  // the old one, after the exchange
  return {};
}

/// Returns the file that the link `name` points to.
fs::path target_of_link(const fs::path& name) {
  if (is_foreign(name)) {
    throw Error(name.string() + ": is a link of another user in a folder that everybody can write to",
                "choose a name in a folder of your own");
  }
  return fs::weakly_canonical(name);
}

}  // namespace

// The rule of the kernel for links (fs.protected_symlinks).
bool is_foreign(const fs::path& name) {
  struct stat entry {
  }, folder{};
  const fs::path parent = name.has_parent_path() ? name.parent_path() : ".";
  if (::lstat(name.c_str(), &entry) != 0 || ::stat(parent.c_str(), &folder) != 0) return false;
  const bool shared = (folder.st_mode & S_ISVTX) != 0 && (folder.st_mode & S_IWOTH) != 0;
  return shared && entry.st_uid != ::geteuid() && entry.st_uid != folder.st_uid;
}

fs::path make_temporary(const fs::path& file, unsigned mode) {
  std::random_device random;
  for (;;) {
    const std::uint64_t digits = (std::uint64_t{random()} << 32 | random()) & 0xFFFF'FFFF'FFFF;
    const fs::path name =
        file.parent_path() / fmt::format("{}.{:0{}x}{}", file.filename().string().substr(0, kLongestName),
                                         digits, kDigits, kEnding);
    const int descriptor = ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    if (descriptor >= 0) {
      ::close(descriptor);
      return name;
    }
    if (errno == EEXIST || errno == EINTR) continue;
    throw Error(fmt::format("{}: cannot be written: {}", file.string(), reason_of(errno)),
                errno == ENOENT ? "does the folder exist?" : kWhyNotWritten);
  }
}

bool is_temporary(const fs::path& file) {
  const std::string name = file.filename().string();
  if (name.size() <= kDigits + kEnding.size() + 1 || !name.ends_with(kEnding)) return false;
  const std::string_view digits =
      std::string_view(name).substr(name.size() - kEnding.size() - kDigits, kDigits);
  return name[name.size() - kEnding.size() - kDigits - 1] == '.' &&
         std::all_of(digits.begin(), digits.end(),
                     [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

void remove_temporaries(const fs::path& folder) {
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, ignored)) {
    if (is_temporary(entry.path()) && entry.is_regular_file(ignored)) fs::remove(entry.path(), ignored);
  }
}

void require_replaceable(const fs::path& name) {
  const std::string hint = "name a regular file, or one that does not exist yet";
  std::error_code failed;
  const fs::file_status there = fs::status(name, failed);
  if (!fs::exists(there)) return;
  if (fs::is_directory(there)) throw Error(name.string() + ": is a folder", hint);
  if (!fs::is_regular_file(there)) {
    throw Error(name.string() + ": is a device or a pipe, which cannot be replaced by a file", hint);
  }
  // Renaming over /dev/stdout, for example, would leave the output in a file without a name.
  for (const char* stream : {"/proc/self/fd/1", "/proc/self/fd/2"}) {
    if (fs::equivalent(name, stream, failed)) {
      throw Error(name.string() + ": receives the output of this program", hint);
    }
  }
}

void require_other_file(const fs::path& target, const fs::path& input) {
  std::error_code failed;
  if (!fs::equivalent(target, input, failed) || failed) return;
  const std::string same = target == input ? "" : fmt::format(", by the name {}", input.string());
  throw Error(fmt::format("{}: is also read{}, and would be replaced by the output", target.string(), same),
              "name another file for the output");
}

// While it is written, the file is readable only for users who may read the file that it replaces.
AtomicFile::AtomicFile(const fs::path& target) {
  require_replaceable(target);
  std::error_code none;
  target_ = fs::is_symlink(target, none) ? target_of_link(target) : target;
  temporary_ = make_temporary(target_, fs::exists(target_, none) ? 0600 : 0666);
}

AtomicFile::~AtomicFile() {
  std::error_code ignored;
  if (!temporary_.empty()) fs::remove(temporary_, ignored);
}

void AtomicFile::commit(Durability durability) {
  struct stat before {};
  if (::stat(target_.c_str(), &before) == 0 && ::chmod(temporary_.c_str(), before.st_mode & 07777) != 0) {
    throw Error(fmt::format("{}: its mode cannot be set: {}", temporary_.string(), reason_of(errno)));
  }
  if (durability == Durability::kSynced) File(temporary_, Access::kRead).sync();
  std::error_code failed;
  fs::rename(temporary_, target_, failed);
  if (failed) throw Error(fmt::format("{}: cannot be written: {}", target_.string(), failed.message()));
  temporary_.clear();
  if (durability == Durability::kSynced) sync_folder(target_.parent_path());
}

void replace_file(const fs::path& name, const std::function<void(const fs::path& temporary)>& write,
                  Durability durability) {
  AtomicFile file(name);
  try {
    write(file.temporary());
  } catch (const std::exception& error) {
    std::error_code none;
    throw Error(
        fmt::format("{}: cannot be written: {}", name.string(), error.what()),
        fs::exists(name, none) ? "the existing file is unchanged; is the disk full?" : kWhyNotWritten);
  }
  file.commit(durability);
}

void replace_text(const fs::path& target, std::string_view text, Durability durability) {
  const auto write = [&](const fs::path& temporary) {
    std::ofstream file(temporary, std::ios::binary);
    file.write(text.data(), static_cast<std::streamsize>(text.size()));
    file.close();
    if (!file) throw Error(reason_of(errno));
  };
  replace_file(target, write, durability);
}

void replace_path(const fs::path& temporary, const fs::path& path) {
  std::error_code error;
  if (fs::is_directory(temporary, error)) sync_folder(temporary);
  if (const std::error_code failed = rename_over(temporary, path)) {
    fs::remove_all(temporary, error);
    throw Error(
        fmt::format("{}: cannot be renamed to {}: {}", temporary.string(), path.string(), failed.message()));
  }
  sync_folder(path.parent_path());
}

}  // namespace convoke::os
