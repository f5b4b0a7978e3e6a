#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "convoke/core/settings.hpp"

namespace convoke::metrics {

/// Returns settings as JSON, in the order of the keys: on one line, or indented by two spaces if `pretty`.
/// Numbers read back unchanged. NaN and infinities, which JSON does not have, become null. Bytes that are not
/// UTF-8 are replaced.
std::string to_json(const Settings& settings, bool pretty = false);

/// Parses JSON; null reads as NaN, and a whole number beyond 64 bits as the nearest double. `where` names the
/// text in messages, e.g. "model.h5: graph", and becomes the settings' place. Throws Error if `text` is not
/// one JSON object, or is nested deeper than 64 levels.
Settings settings_from_json(const std::string& text, const std::string& where);

/// A list of settings as JSON, and back: a message between ranks. Throws Error as settings_from_json.
std::string list_to_json(std::vector<Settings> list);
std::vector<Settings> list_from_json(const std::string& text);

/// The format of the JSON files that Convoke writes, under the key "format"; a file without it has format 1.
inline constexpr std::int64_t kFileFormat = 1;

/// Returns the contents of a JSON file; nullopt if there is no such file. Throws Error naming the file if it
/// is not one JSON object, or has a newer format.
std::optional<Settings> read_json(const std::filesystem::path& file);

/// Returns the objects of a file with one in each line, such as metrics.jsonl; none if there is no file. An
/// unfinished last line is ignored. Throws Error naming file and line.
std::vector<Settings> read_json_lines(const std::filesystem::path& file);

}  // namespace convoke::metrics
