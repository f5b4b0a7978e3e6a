#pragma once
#include <algorithm>
#include <ranges>
#include <string>
#include <string_view>
#include <vector>

#include "convoke/core/error.hpp"
#include "convoke/core/text.hpp"

namespace convoke {

/// A name in a recipe or on the command line, and its value.
template <class T>
struct Named {
  std::string_view name;
  T value;
};

/// Returns the name of `value` in a table of {name, value} that holds it.
template <class Table, class T>
std::string name_of(const Table& table, const T& value) {
  for (const auto& entry : table) {
    if (entry.value == value) return std::string(entry.name);
  }
  throw Error("a choice without a name");
}

/// Returns the first entry of a table with this name, or with this text in another column
/// (&PlainLayer::onnx); null if there is none, or the name is empty.
template <class Table, class Entry = std::ranges::range_value_t<Table>>
const Entry* find_named(const Table& table, std::string_view name,
                        std::string_view Entry::*column = &Entry::name) {
  const auto found = std::ranges::find(table, name, column);
  return found == std::ranges::end(table) || name.empty() ? nullptr : &*found;
}

/// Returns the names in a table, a range of entries that have a `name`.
template <class Table>
std::vector<std::string> names_in(const Table& table) {
  std::vector<std::string> names;
  for (const auto& entry : table) names.emplace_back(entry.name);
  return names;
}

/// Returns the entry called `name`. Throws Error `unknown optimizer "adamm" (did you mean "adam"?)` with the
/// known names as its hint; `what` is the noun for the entries, `where` the place of the name, if any.
template <class Table>
const auto& find_in(const Table& table, std::string_view name, std::string_view what,
                    std::string_view where = {}) {
  const auto it =
      std::find_if(table.begin(), table.end(), [&](const auto& entry) { return entry.name == name; });
  if (it != table.end()) return *it;
  std::vector<std::string> names = names_in(table);
  std::sort(names.begin(), names.end());
  throw Error((where.empty() ? std::string() : std::string(where) + ": ") + "unknown " + std::string(what) +
                  " \"" + std::string(name) + "\"" + did_you_mean(name, names),
              "known: " + join(names));
}

}  // namespace convoke
