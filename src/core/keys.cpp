#include "convoke/core/keys.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace convoke {
namespace {

std::string list_of_words(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += fmt::format("{}\"{}\"", text.empty() ? "" : ", ", word);
  return text;
}

// Returns the condition on a value.
std::string expectation(const KeyFacts& key) {
  if (!key.expected.empty()) return std::string(key.expected);
  if (key.word.empty()) return key.range.text();
  if (!std::isfinite(key.range.largest))
    return fmt::format("\"{}\" or a whole number of at least 1", key.word);
  return fmt::format("\"{}\" or a whole number of 1 to {}", key.word, key.range.largest);
}

std::string hint_of(const KeyFacts& key) {
  return key.help.empty() ? "" : fmt::format("{}: {}", key.name, key.help);
}

// Throws Error unless `name` is one of the key's names, if it has names.
void check_name(const SettingsReader& read, const KeyFacts& key, const std::string& name) {
  if (key.names == nullptr) return;
  std::vector<Named<bool>> table;
  const std::vector<std::string> names = key.names();
  for (const std::string& known : names) table.push_back({known, true});
  find_in(table, name, key.noun.empty() ? key.name : key.noun, read.place(key.name));
}

bool all_within(const Range& range, const std::vector<double>& values) {
  return std::all_of(values.begin(), values.end(), [&](double value) { return range.contains(value); });
}

}  // namespace

bool Range::contains(double value) const {
  return std::isfinite(value) && value >= least && value > above && value <= largest && value < below;
}

std::string Range::text() const {
  std::string text;
  const auto add = [&](const char* relation, double end) {
    if (std::isfinite(end)) text += fmt::format("{}{} {}", text.empty() ? "" : " and ", relation, end);
  };
  add("at least", least);
  add("above", above);
  add("at most", largest);
  add("below", below);
  return text;
}

bool is_written(SettingsReader& read, const KeyFacts& key) {
  if (read.has(key.name)) return true;
  if (key.required) read.fail(fmt::format("\"{}\" is missing", key.name), hint_of(key));
  return false;
}

void check_key(const SettingsReader& read, const KeyFacts& key, bool holds, std::string_view expected) {
  if (holds) return;
  std::string what(expected);
  if (what.empty()) what = expectation(key);
  if (what.empty()) what = "a finite number";
  read.check(key.name, false, what, hint_of(key));
}

void read_value(SettingsReader& read, const KeyFacts& key, bool& value) { value = read.get(key.name, value); }

void read_value(SettingsReader& read, const KeyFacts& key, std::int64_t& value) {
  if (!is_written(read, key)) return;
  if (key.word.empty()) {
    value = read.get(key.name, value);
  } else {
    const Value& written = *read.find(key.name);
    const auto* const count = std::get_if<std::int64_t>(&written.data());
    const bool is_word = written == Value(key.word);
    check_key(read, key, is_word || (count != nullptr && *count >= 1));
    value = is_word ? 0 : *count;
  }
  check_key(read, key, key.range.contains(static_cast<double>(value)));
}

void read_value(SettingsReader& read, const KeyFacts& key, double& value) {
  if (!is_written(read, key)) return;
  value = read.get(key.name, value);
  check_key(read, key, key.range.contains(value));
}

void read_value(SettingsReader& read, const KeyFacts& key, std::string& value) {
  if (!is_written(read, key)) return;
  value = read.get(key.name, value);
  check_key(read, key, !(key.required && value.empty()));
  check_name(read, key, value);
}

void read_value(SettingsReader& read, const KeyFacts& key, std::vector<std::string>& value) {
  if (!is_written(read, key)) return;
  value = read.get(key.name, value);
  for (const std::string& name : value) check_name(read, key, name);
}

void read_value(SettingsReader& read, const KeyFacts& key, std::vector<std::int64_t>& value) {
  if (!is_written(read, key)) return;
  value = read.get(key.name, value);
  check_key(read, key, all_within(key.range, {value.begin(), value.end()}));
}

void read_value(SettingsReader& read, const KeyFacts& key, std::vector<double>& value) {
  if (!is_written(read, key)) return;
  value = read.get(key.name, value);
  check_key(read, key, all_within(key.range, value));
}

void read_value(SettingsReader& read, const KeyFacts& key, std::array<double, 2>& value) {
  if (!is_written(read, key)) return;
  const std::vector<double> pair = read.get(key.name, std::vector<double>{});
  check_key(read, key, pair.size() == 2 && all_within(key.range, pair) && pair[0] <= pair[1]);
  value = {pair[0], pair[1]};
}

Value to_value(const KeyFacts&, bool value) { return value; }
Value to_value(const KeyFacts& key, std::int64_t value) {
  return !key.word.empty() && value == 0 ? Value(key.word) : Value(value);
}
Value to_value(const KeyFacts&, double value) { return value; }
Value to_value(const KeyFacts&, const std::string& value) { return value; }
Value to_value(const KeyFacts&, const std::array<double, 2>& value) {
  return Value::Array(value.begin(), value.end());
}

KeyDescription describe_key(const KeyFacts& key, const std::optional<Value>& fallback) {
  std::string allowed = expectation(key);
  if (allowed.empty() && key.names != nullptr) allowed = list_of_words(key.names());
  return {.name = std::string(key.name),
          .type = std::string(key.type),
          .fallback = fallback ? fallback->to_string() : std::string(key.fallback),
          .range = std::move(allowed),
          .effect = key.effect,
          .required = key.required,
          .help = std::string(key.help),
          .tables = key.tables};
}

}  // namespace convoke
