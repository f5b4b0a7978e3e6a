#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "convoke/core/settings.hpp"

// What a table that somebody else has written says, if it says it: files of runs, which may be of another
// version or not complete. Paths are keys with dots, "test.accuracy". What is absent, or of another type, is
// told by the result, never thrown; SettingsReader is for tables that must be right.

namespace convoke {

/// Null if there is nothing at `path`.
const Value* value_at(const Settings& settings, std::string_view path);

/// A number, whole ones too; NaN if there is none.
double number_at(const Settings& settings, std::string_view path);
std::optional<std::int64_t> count_at(const Settings& settings, std::string_view path);
/// "" if there is no text.
std::string text_at(const Settings& settings, std::string_view path);
/// Empty if there is no table, or no list.
const Settings& table_at(const Settings& settings, std::string_view path);
const Value::Array& list_at(const Settings& settings, std::string_view path);
/// A list of numbers; NaN for what is none.
std::vector<double> numbers_at(const Settings& settings, std::string_view path);
/// A list of texts; "" for what is none.
std::vector<std::string> texts_at(const Settings& settings, std::string_view path);
/// The tables in a list; what is none is left out.
std::vector<Settings> tables_at(const Settings& settings, std::string_view path);

}  // namespace convoke
