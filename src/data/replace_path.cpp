#include "replace_path.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <system_error>

#include "convoke/core/error.hpp"
#include "convoke/data/shards.hpp"

namespace convoke::data {
namespace {

namespace fs = std::filesystem;

// A new name, too, should survive a crash; some file systems cannot sync a folder, and need not.
void sync_folder(const fs::path& folder) {
  if (const int handle = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); handle >= 0) {
    ::fsync(handle);
    ::close(handle);
  }
}

// Not over what is there if one of them is a folder: rename() cannot.
std::error_code rename_over(const fs::path& from, const fs::path& to) {
  std::error_code error;
  if (!fs::exists(to, error) || (!fs::is_directory(from, error) && !fs::is_directory(to, error))) {
    fs::rename(from, to, error);
    return error;
  }
  if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_EXCHANGE) != 0) {
    // This file system cannot exchange: for a moment there is neither.
    const fs::path old = to.string() + ".old";
    fs::remove_all(old, error);
    fs::rename(to, old, error);
    if (!error) fs::rename(from, to, error);
    if (error) return error;
    fs::remove_all(old, error);
    return {};
  }
  fs::remove_all(from, error);  // the old one
  return {};
}

}  // namespace

void require_replaceable(const fs::path& path) {
  std::error_code error;
  if (const fs::file_status there = fs::status(path, error); fs::exists(there) && fs::is_other(there)) {
    throw Error(path.string() + ": is a device or a pipe, and no file that another could replace",
                "choose another name");
  }
  if (!fs::is_directory(path, error) || fs::is_empty(path, error)) return;
  for (const fs::directory_entry& entry : fs::directory_iterator(path)) {
    if (is_shard_name(entry.path().filename().string())) continue;
    throw Error(fmt::format("{}: is a folder that holds more than a dataset: {}", path.string(),
                            entry.path().filename().string()),
                "choose another name, or empty the folder yourself");
  }
}

void replace_path(const fs::path& temporary, const fs::path& path) {
  std::error_code error;
  if (fs::is_directory(temporary, error)) sync_folder(temporary);
  if (const std::error_code failed = rename_over(temporary, path)) {
    fs::remove_all(temporary, error);
    throw Error(
        fmt::format("{}: cannot be renamed to {}: {}", temporary.string(), path.string(), failed.message()));
  }
  sync_folder(path.has_parent_path() ? path.parent_path() : ".");
}

}  // namespace convoke::data
