#pragma once
#include <filesystem>
#include <optional>

#include "convoke/core/settings.hpp"

namespace convoke::metrics {

/// What a file of JSON holds; nothing where there is no such file. Throws Error naming the file if it is not
/// one JSON object.
std::optional<Settings> read_json(const std::filesystem::path& file);

}  // namespace convoke::metrics
