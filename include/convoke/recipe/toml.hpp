#pragma once
#include <string>

#include "convoke/core/settings.hpp"

namespace convoke::recipe {

/// Parses TOML into settings in the order of the text, with the places ("recipe.toml:14") of tables and
/// values. `source` names the text in messages. Throws Error "recipe.toml:3: ..." if it is not TOML, or has
/// values that settings do not support (dates, times).
Settings parse_toml(const std::string& text, const std::string& source);

/// Parses a value in TOML syntax (`3`, `1e-3`, `true`, `[1, 28, 28]`, `{ name = "sgd" }`); anything else is
/// text. `place` becomes the place of its tables.
Value parse_value(const std::string& text, const std::string& place);

/// Writes the input of parse_toml: [sections], and lists of tables with one table per line.
std::string to_toml(const Settings& settings);

}  // namespace convoke::recipe
