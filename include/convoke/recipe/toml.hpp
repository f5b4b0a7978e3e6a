#pragma once
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "convoke/core/settings.hpp"

namespace convoke::recipe {

/// A TOML text as settings in the order of the text. Every table knows its place ("recipe.toml:14"); the
/// places of single values are kept with them.
struct TomlDocument {
  Settings settings;
  std::map<std::string, std::string, std::less<>> places;  ///< "train.epochs" -> "recipe.toml:14"

  /// Where the value at `path` was written, else the table around it, else the document.
  std::string place(std::string_view path) const;
};

/// Reads TOML. `source` names the text in messages. Throws Error "recipe.toml:3: ..." if it is not TOML, or
/// holds what settings do not have (dates, times).
TomlDocument parse_toml(const std::string& text, const std::string& source);

/// A value as TOML writes it (`3`, `1e-3`, `true`, `[1, 28, 28]`, `{ name = "sgd" }`); anything else is text.
/// `place` is where tables in it say they were written.
Value parse_value(const std::string& text, const std::string& place);

/// The inverse of parse_toml: [sections], and lists of tables with one table a line.
std::string to_toml(const Settings& settings);

}  // namespace convoke::recipe
