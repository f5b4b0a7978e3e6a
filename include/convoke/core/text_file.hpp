#pragma once
#include <filesystem>
#include <optional>
#include <string>

namespace convoke {

/// All bytes of a file; none if it cannot be read: there is none, it is a folder, or may not be.
std::optional<std::string> read_text(const std::filesystem::path& file);

}  // namespace convoke
