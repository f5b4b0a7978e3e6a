#pragma once
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "convoke/core/settings.hpp"

namespace convoke::recipe {

/// A TOML text as settings in the order of the text. Every table has its place ("recipe.toml:14"); the places
/// of single values are stored separately.
struct TomlDocument {
  Settings settings;
  std::map<std::string, std::string, std::less<>> places;  ///< "train.epochs" -> "recipe.toml:14"

  /// Returns the place of the value at `path`, or of the table around it, or of the document.
  std::string place(std::string_view path) const;
};

/// Parses TOML. `source` names the text in messages. Throws Error "recipe.toml:3: ..." if it is not TOML, or
/// has values that settings do not support (dates, times).
TomlDocument parse_toml(const std::string& text, const std::string& source);

/// Parses a value in TOML syntax (`3`, `1e-3`, `true`, `[1, 28, 28]`, `{ name = "sgd" }`); anything else is
/// text. `place` becomes the place of its tables.
Value parse_value(const std::string& text, const std::string& place);

/// Writes the input of parse_toml: [sections], and lists of tables with one table per line.
std::string to_toml(const Settings& settings);

}  // namespace convoke::recipe
