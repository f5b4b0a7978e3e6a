#include "convoke/data_prep/files/file_stamp.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <span>
#include <string>
#include <system_error>

#include "convoke/core/checksum.hpp"
#include "convoke/data_prep/files/names.hpp"

namespace convoke::data_prep {
namespace {

namespace fs = std::filesystem;

// Adds the files below a folder. `around`: this folder's parents, without links; a link to one of them would
// never end.
void add_files(const fs::path& folder, const fs::path& output, std::vector<fs::path>& around,
               std::vector<fs::path>& files) {
  std::error_code error;
  const fs::path real = fs::canonical(folder, error);
  if (error || std::find(around.begin(), around.end(), real) != around.end()) return;
  around.push_back(real);
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    if (is_hidden(entry.path()) || is_output(entry.path(), output)) continue;
    if (entry.is_directory(error)) {
      add_files(entry.path(), output, around, files);
    } else {
      files.push_back(entry.path());
    }
  }
  around.pop_back();
}

}  // namespace

FileStamp stamp_of(const fs::path& file) {
  std::error_code no_size, no_time;
  const std::uint64_t bytes = fs::file_size(file, no_size);
  const fs::file_time_type written = fs::last_write_time(file, no_time);
  if (no_size || no_time) return {};
  return {bytes, std::chrono::nanoseconds(written.time_since_epoch()).count()};
}

bool is_output(const fs::path& path, const fs::path& output) {
  constexpr std::array kEndings{"", ".part", ".work", ".findings.csv"};
  return !output.empty() && std::ranges::any_of(kEndings, [&](const char* ending) {
    std::error_code none;
    return fs::equivalent(path, output.string() + ending, none);
  });
}

std::vector<fs::path> files_below(const fs::path& path, const fs::path& output) {
  if (!fs::is_directory(path)) return {path};
  std::vector<fs::path> around, files;
  add_files(path, output, around, files);
  return files;
}

std::uint32_t checksum_of(std::vector<fs::path> files) {
  std::sort(files.begin(), files.end());
  std::uint32_t sum = 0;
  for (const fs::path& file : files) {
    const FileStamp stamp = stamp_of(file);
    const std::string line = fmt::format("{} {} {}\n", file.string(), stamp.bytes, stamp.written);
    sum = crc32(std::as_bytes(std::span(line)), sum);
  }
  return sum;
}

}  // namespace convoke::data_prep
