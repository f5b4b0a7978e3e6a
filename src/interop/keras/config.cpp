#include "interop/keras/config.hpp"

#include <fmt/format.h>

#include <cmath>

#include "convoke/core/error.hpp"
#include "convoke/core/text.hpp"

namespace convoke::interop::keras {
namespace {

constexpr int kDeepest = 256;  // brackets within brackets; one level of nested models takes five

std::string shown(const Json& value) {
  constexpr std::size_t kCharacters = 60;
  return shortened(one_line(value.dump(-1, ' ', false, Json::error_handler_t::replace)), kCharacters);
}

void collect(const Json& value, std::vector<double>& numbers) {  // its depth is at most kDeepest
  if (value.is_number()) numbers.push_back(value.get<double>());
  if (value.is_array()) {
    for (const Json& part : value) collect(part, numbers);
  }
  // NumPy arrays: {"class_name": "__numpy__", "config": {"value": [...]}}
  if (value.is_object()) collect(member(member(value, "config"), "value"), numbers);
}

std::optional<std::int64_t> whole_of(const Json& value) {
  if (!value.is_number()) return std::nullopt;
  const auto number = value.get<double>();
  if (number != std::trunc(number) || std::abs(number) >= 0x1p31) return std::nullopt;
  return static_cast<std::int64_t>(number);
}

}  // namespace

Json parse_json(std::string_view text, const std::string& where) {
  if (text.size() > kMostJson) {
    throw Error(
        fmt::format("{}: its description has {}, more than any model's", where, format_bytes(text.size())));
  }
  const auto bounded = [&](int depth, Json::parse_event_t, const Json&) {
    if (depth > kDeepest) throw Error(fmt::format("{}: is nested deeper than {} levels", where, kDeepest));
    return true;
  };
  try {
    return Json::parse(text, bounded);
  } catch (const Json::exception& error) {
    throw Error(fmt::format("{}: is no valid JSON: {}", where, one_line(error.what())),
                "the file is damaged: save the model again");
  }
}

const Json& member(const Json& object, std::string_view key) {
  static const Json none;
  if (!object.is_object()) return none;
  const auto found = object.find(std::string(key));
  return found == object.end() ? none : *found;
}

std::string text_of(const Json& value) { return value.is_string() ? value.get<std::string>() : ""; }

const Json& Config::at(std::string_view key) const { return member(object_, key); }

void Config::refuse(std::string_view key, const std::string& supported) const {
  throw Error(fmt::format("\"{}\" is {}; {}", key, shown(at(key)), supported));
}

void Config::require_neutral(std::string_view key, const Json& neutral) const {
  const Json& value = at(key);
  if (value.is_null() || value == Json(false) || value == neutral) return;
  refuse(key, neutral.is_null() ? "this is not supported" : "supported is " + shown(neutral));
}

std::int64_t Config::whole(std::string_view key, std::optional<std::int64_t> fallback) const {
  if (!has(key) && fallback) return *fallback;
  const std::optional<std::int64_t> value = whole_of(at(key));
  if (!value) refuse(key, "a whole number is expected");
  return *value;
}

double Config::number(std::string_view key, std::optional<double> fallback) const {
  if (!has(key) && fallback) return *fallback;
  std::vector<double> values;
  if (!at(key).is_array()) collect(at(key), values);
  if (values.size() != 1) refuse(key, "a number is expected");
  return values[0];
}

bool Config::flag(std::string_view key, bool fallback) const {
  if (!has(key)) return fallback;
  if (!at(key).is_boolean()) refuse(key, "true or false is expected");
  return at(key).get<bool>();
}

std::string Config::text(std::string_view key, std::string_view fallback) const {
  if (!has(key)) return std::string(fallback);
  if (!at(key).is_string()) refuse(key, "a text is expected");
  return at(key).get<std::string>();
}

std::vector<std::int64_t> Config::wholes(std::string_view key) const {
  std::vector<std::int64_t> values;
  const auto take = [&](const Json& value) {
    const std::optional<std::int64_t> number = whole_of(value);
    if (!number) refuse(key, "whole numbers are expected");
    values.push_back(*number);
  };
  if (!has(key)) return values;
  if (!at(key).is_array()) {
    take(at(key));
  } else {
    for (const Json& value : at(key)) take(value);
  }
  return values;
}

std::vector<double> Config::numbers(std::string_view key) const {
  std::vector<double> values;
  collect(at(key), values);
  return values;
}

nn::Extent Config::extent(std::string_view key, nn::Extent fallback) const {
  const std::vector<std::int64_t> values = wholes(key);
  if (values.empty()) return fallback;
  if (values.size() > 2) refuse(key, "a number or [height, width] is expected");
  return {values.front(), values.back()};
}

std::int64_t Config::first(std::string_view key, std::int64_t fallback) const {
  const std::vector<std::int64_t> values = wholes(key);
  if (values.size() > 1) refuse(key, "one number is expected");
  return values.empty() ? fallback : values[0];
}

}  // namespace convoke::interop::keras
