#pragma once
#include <string>

#include "convoke/core/settings.hpp"

namespace convoke::metrics {

/// Settings as JSON, keys in their order: on one line, or indented by two spaces when `pretty`. Numbers read
/// back as the same numbers; NaN and infinities, which JSON does not know, become null. Bytes that are no
/// UTF-8 are replaced.
std::string to_json(const Settings& settings, bool pretty = false);

/// The inverse; null reads as NaN, and a whole number beyond 64 bits as the nearest double. `where` names the
/// text in messages, e.g. "model.h5: graph", and becomes the settings' place. Throws Error if `text` is not
/// one JSON object, or is nested deeper than 64 levels.
Settings settings_from_json(const std::string& text, const std::string& where);

}  // namespace convoke::metrics
