#pragma once
#include <filesystem>
#include <optional>
#include <vector>

#include "convoke/core/settings.hpp"

namespace convoke::metrics {

/// Returns the contents of a JSON file; nullopt if there is no such file. Throws Error naming the file if it
/// is not one JSON object.
std::optional<Settings> read_json(const std::filesystem::path& file);

/// Returns the objects of a file with one in each line, such as metrics.jsonl; none if there is no file. An
/// unfinished last line is ignored. Throws Error naming file and line.
std::vector<Settings> read_json_lines(const std::filesystem::path& file);

}  // namespace convoke::metrics
