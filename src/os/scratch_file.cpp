#include "convoke/os/scratch_file.hpp"

#include <filesystem>
#include <optional>
#include <system_error>

#include "convoke/core/error.hpp"

namespace convoke::os {

namespace {

std::optional<File> unnamed_in(const std::filesystem::path& folder) try {
  return File::unnamed(folder);
} catch (const Error&) {
  return std::nullopt;
}

}  // namespace

File scratch_file(const std::string& name) try { return File::in_memory(name); } catch (const Error&) {
  std::error_code unknown;
  for (const auto& folder :
       {std::filesystem::path("/dev/shm"), std::filesystem::temp_directory_path(unknown)}) {
    if (std::optional<File> file = unnamed_in(folder)) return std::move(*file);
  }
  throw;
}

}  // namespace convoke::os
