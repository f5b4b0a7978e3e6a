#include "interop/keras/config.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>

#include "convoke/core/error.hpp"
#include "convoke/core/text.hpp"
#include "interop/layer_tables.hpp"

namespace convoke::interop::keras {
namespace {

constexpr int kDeepestJson = 256;  // brackets within brackets; one level of nested models takes five

std::string shown(const Json& value) {
  constexpr std::size_t kCharacters = 60;
  return shortened(one_line(value.dump(-1, ' ', false, Json::error_handler_t::replace)), kCharacters);
}

void collect(const Json& value, std::vector<double>& numbers) {  // its depth is at most kDeepestJson
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
    if (depth > kDeepestJson)
      throw Error(fmt::format("{}: is nested deeper than {} levels", where, kDeepestJson));
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

namespace {

bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }
bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
bool is_word(char c) { return is_upper(c) || is_lower(c) || (c >= '0' && c <= '9') || c == '_'; }

/// Packages that hold Keras' own classes.
constexpr std::array<std::string_view, 5> kPackages{"keras", "tf_keras", "keras_core", "tensorflow.keras",
                                                    "tensorflow.python.keras"};

/// A layer that Keras Applications define beside their networks, and its settings.
struct OfApplications {
  std::string_view name;
  std::array<std::string_view, 2> settings;
};
constexpr std::array kOfApplications{OfApplications{"CustomScaleLayer", {"scale"}},
                                     OfApplications{"LayerScale", {"init_values", "projection_dim"}},
                                     OfApplications{"StochasticDepth", {"drop_path_rate"}}};

bool is_of_keras(const std::string& module) {
  return std::any_of(kPackages.begin(), kPackages.end(), [&](std::string_view package) {
    return module.starts_with(package) && (module.size() == package.size() || module[package.size()] == '.');
  });
}

// True if it has these settings and no others but those of all layers.
bool has_settings(const Json& config, const OfApplications& layer) {
  static constexpr std::array<std::string_view, 4> kOfAll{"name", "trainable", "dtype", "batch_input_shape"};
  const auto is_in = [](const auto& list, const std::string& key) {
    return std::find(list.begin(), list.end(), key) != list.end();
  };
  for (const auto& [key, value] : config.items()) {
    if (!is_in(kOfAll, key) && !is_in(layer.settings, key)) return false;
  }
  return std::all_of(layer.settings.begin(), layer.settings.end(),
                     [&](std::string_view key) { return key.empty() || !member(config, key).is_null(); });
}

}  // namespace

std::string snake_case(std::string_view class_name) {
  std::string name;
  std::copy_if(class_name.begin(), class_name.end(), std::back_inserter(name), is_word);
  std::string snake;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const bool begins_word = is_upper(name[i]) && i > 0 &&
                             (is_lower(name[i - 1]) || (i + 1 < name.size() && is_lower(name[i + 1])));
    if (begins_word) snake += '_';
    snake += is_upper(name[i]) ? static_cast<char>(name[i] - 'A' + 'a') : name[i];
  }
  return snake;
}

std::string builtin_class(const Json& layer) {
  std::string name = text_of(member(layer, "class_name"));
  bool own = true;
  if (layer.is_object() && layer.contains("module")) {
    own = is_of_keras(text_of(member(layer, "module")));
    if (own && name.starts_with("Custom>")) name.erase(0, 7);
  } else {
    // Keras 2 registers one of its own layers as a user would.
    if (name == "Custom>CustomScaleLayer") name.erase(0, 7);
    const OfApplications* known = find_named(kOfApplications, name);
    if (known != nullptr) own = has_settings(member(layer, "config"), *known);
    own = own && name.find('>') == std::string::npos;
  }
  if (own) return name;
  throw Error("is a custom layer, whose Python code is not in the file",
              "write it with Keras' own layers and save the model again");
}

}  // namespace convoke::interop::keras
