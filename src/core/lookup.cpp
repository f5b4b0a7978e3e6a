#include "convoke/core/lookup.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace convoke {
namespace {

constexpr double kNoNumber = std::numeric_limits<double>::quiet_NaN();

}  // namespace

const Value* value_at(const Settings& settings, std::string_view path) {
  const std::size_t dot = path.find('.');
  const Value* value = settings.find(path.substr(0, dot));
  if (value == nullptr || dot == std::string_view::npos) return value;
  return value->table() == nullptr ? nullptr : value_at(*value->table(), path.substr(dot + 1));
}

double number_at(const Settings& settings, std::string_view path) {
  const Value* value = value_at(settings, path);
  return value == nullptr ? kNoNumber : value->as<double>().value_or(kNoNumber);
}

std::optional<std::int64_t> count_at(const Settings& settings, std::string_view path) {
  const Value* value = value_at(settings, path);
  return value == nullptr ? std::nullopt : value->as<std::int64_t>();
}

std::string text_at(const Settings& settings, std::string_view path) {
  const Value* value = value_at(settings, path);
  return value == nullptr ? std::string() : value->as<std::string>().value_or("");
}

const Settings& table_at(const Settings& settings, std::string_view path) {
  static const Settings kEmpty;
  const Value* value = value_at(settings, path);
  return value == nullptr || value->table() == nullptr ? kEmpty : *value->table();
}

const Value::Array& list_at(const Settings& settings, std::string_view path) {
  static const Value::Array kEmpty;
  const Value* value = value_at(settings, path);
  const auto* list = value == nullptr ? nullptr : std::get_if<Value::Array>(&value->data());
  return list == nullptr ? kEmpty : *list;
}

std::vector<double> numbers_at(const Settings& settings, std::string_view path) {
  std::vector<double> numbers;
  for (const Value& value : list_at(settings, path))
    numbers.push_back(value.as<double>().value_or(kNoNumber));
  return numbers;
}

std::vector<std::string> texts_at(const Settings& settings, std::string_view path) {
  std::vector<std::string> texts;
  for (const Value& value : list_at(settings, path)) texts.push_back(value.as<std::string>().value_or(""));
  return texts;
}

std::vector<Settings> tables_at(const Settings& settings, std::string_view path) {
  std::vector<Settings> tables;
  for (const Value& value : list_at(settings, path)) {
    if (value.table() != nullptr) tables.push_back(*value.table());
  }
  return tables;
}

std::vector<std::pair<std::string, std::string>> flattened(const Settings& settings) {
  std::vector<std::pair<std::string, std::string>> flat;
  for (const auto& [key, value] : settings.entries()) {
    if (const Settings* table = value.table()) {
      for (auto& [path, text] : flattened(*table)) flat.emplace_back(key + "." + path, std::move(text));
    } else {
      flat.emplace_back(key, value.to_string());
    }
  }
  return flat;
}

namespace {

using Values = std::vector<std::pair<std::string, std::string>>;

const std::string* find_value(const Values& values, const std::string& name) {
  const auto it =
      std::find_if(values.begin(), values.end(), [&](const auto& value) { return value.first == name; });
  return it == values.end() ? nullptr : &it->second;
}

}  // namespace

std::vector<std::string> differences(const Values& then, const Values& now, std::string_view place,
                                     std::string_view here) {
  std::vector<std::string> found;
  for (const auto& [name, value] : now) {
    const std::string* before = find_value(then, name);
    if (before != nullptr && *before == value) continue;
    found.push_back(
        fmt::format("{}: {} {}, {} {}", name, before == nullptr ? "absent" : *before, place, value, here));
  }
  for (const auto& [name, value] : then) {
    if (find_value(now, name) == nullptr)
      found.push_back(fmt::format("{}: {} {}, absent {}", name, value, place, here));
  }
  return found;
}

}  // namespace convoke
