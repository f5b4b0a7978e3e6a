#pragma once
#include <filesystem>
#include <optional>
#include <vector>

#include "convoke/core/settings.hpp"

namespace convoke::metrics {

/// What a file of JSON holds; nothing where there is no such file. Throws Error naming the file if it is not
/// one JSON object.
std::optional<Settings> read_json(const std::filesystem::path& file);

/// The objects of a file that has one in each line, as metrics.jsonl; none where there is no file. A last
/// line without its end is under way, and left out. Throws Error naming file and line.
std::vector<Settings> read_json_lines(const std::filesystem::path& file);

}  // namespace convoke::metrics
