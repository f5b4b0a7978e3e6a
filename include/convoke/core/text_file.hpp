#pragma once
#include <filesystem>
#include <optional>
#include <string>

namespace convoke {

/// Returns all bytes of a file; none if it cannot be read: it does not exist, is a folder, or access is
/// denied.
std::optional<std::string> read_text(const std::filesystem::path& file);

}  // namespace convoke
