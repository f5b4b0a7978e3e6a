#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "convoke/core/settings.hpp"

// Reads values from tables of other origin, such as files of runs, which may be of another version or
// incomplete. Paths are keys with dots, "test.accuracy". A missing value, or one of another type, shows in
// the result and never throws; SettingsReader is for tables that must be correct.

namespace convoke {

/// Returns null if there is no value at `path`.
const Value* value_at(const Settings& settings, std::string_view path);

/// Returns a number (also a whole one); NaN if there is none.
double number_at(const Settings& settings, std::string_view path);
std::optional<std::int64_t> count_at(const Settings& settings, std::string_view path);
/// Returns "" if there is no text.
std::string text_at(const Settings& settings, std::string_view path);
/// Returns an empty table or list if there is none.
const Settings& table_at(const Settings& settings, std::string_view path);
const Value::Array& list_at(const Settings& settings, std::string_view path);
/// Returns a list of numbers; NaN for other elements.
std::vector<double> numbers_at(const Settings& settings, std::string_view path);
/// Returns a list of texts; "" for other elements.
std::vector<std::string> texts_at(const Settings& settings, std::string_view path);
/// Returns the tables in a list, without other elements.
std::vector<Settings> tables_at(const Settings& settings, std::string_view path);

/// Returns every value by its path, in TOML: "train.optimizer.beta_1", "0.9". A list is one value.
std::vector<std::pair<std::string, std::string>> flattened(const Settings& settings);

/// Compares values by their names, in any order. Returns "train.epochs: 3 in the checkpoint, 5 now" for each
/// name whose values differ, where `place` is "in the checkpoint" and `here` "now". A missing value is
/// "absent".
std::vector<std::string> differences(const std::vector<std::pair<std::string, std::string>>& then,
                                     const std::vector<std::pair<std::string, std::string>>& now,
                                     std::string_view place, std::string_view here = "now");

}  // namespace convoke
