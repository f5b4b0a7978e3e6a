#pragma once
#include <string>

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

}  // namespace convoke::metrics
