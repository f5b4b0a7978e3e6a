#include "convoke/metrics/json.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <cstdint>
#include <limits>
#include <sstream>
#include <string>
#include <string_view>

#include "convoke/core/error.hpp"
#include "convoke/core/lookup.hpp"
#include "convoke/core/text.hpp"
#include "convoke/core/versions.hpp"

namespace convoke::metrics {

namespace {

using Json = nlohmann::ordered_json;

constexpr int kDeepest = 64;

Json json_of(const Settings& settings);

Json json_of(const Value& value) {
  if (const Settings* table = value.table()) return json_of(*table);
  if (const auto* list = std::get_if<Value::Array>(&value.data())) {
    Json out = Json::array();
    for (const Value& item : *list) out.push_back(json_of(item));
    return out;
  }
  if (const auto* v = std::get_if<bool>(&value.data())) return *v;
  if (const auto* v = std::get_if<std::int64_t>(&value.data())) return *v;
  if (const auto* v = std::get_if<double>(&value.data())) return std::isfinite(*v) ? Json(*v) : Json(nullptr);
  return std::get<std::string>(value.data());
}

Json json_of(const Settings& settings) {
  Json out = Json::object();
  for (const auto& [key, value] : settings.entries()) out[key] = json_of(value);
  return out;
}

Settings settings_of(const Json& json, const std::string& where, int depth);

Value value_of(const Json& json, const std::string& where, int depth) {
  if (depth > kDeepest)
    throw Error(where + ": JSON is nested deeper than " + std::to_string(kDeepest) + " levels");
  switch (json.type()) {
    case Json::value_t::object:
      return settings_of(json, where, depth);
    case Json::value_t::array: {
      Value::Array list;
      for (const Json& item : json) list.push_back(value_of(item, where, depth + 1));
      return list;
    }
    case Json::value_t::boolean:
      return json.get<bool>();
    case Json::value_t::number_float:
      return json.get<double>();
    case Json::value_t::number_integer:
      return json.get<std::int64_t>();
    case Json::value_t::number_unsigned:
      if (json.get<std::uint64_t>() > std::numeric_limits<std::int64_t>::max()) return json.get<double>();
      return json.get<std::int64_t>();
    case Json::value_t::string:
      return harmless(json.get<std::string>());
    default:  // null; JSON text has no other types
      return std::numeric_limits<double>::quiet_NaN();
  }
}

Settings settings_of(const Json& json, const std::string& where, int depth) {
  Settings settings;
  settings.set_where(where);
  for (const auto& [key, value] : json.items()) settings.set(key, value_of(value, where, depth + 1));
  return settings;
}

}  // namespace

std::string to_json(const Settings& settings, bool pretty) {
  return json_of(settings).dump(pretty ? 2 : -1, ' ', false, Json::error_handler_t::replace);
}

Settings settings_from_json(const std::string& text, const std::string& where) {
  Json json;
  try {
    json = Json::parse(text);
  } catch (const Json::exception& e) {
    const std::string_view what = e.what();  // "[json.exception.parse_error.101] parse error at line 2, ..."
    throw Error(fmt::format("{}: not valid JSON: {}", where, what.substr(what.find(' ') + 1)));
  }
  if (!json.is_object()) throw Error(where + ": expected a JSON object, but found " + json.type_name());
  return settings_of(json, where, 0);
}

std::string list_to_json(std::vector<Settings> list) {
  Value::Array values;
  for (Settings& entry : list) values.emplace_back(std::move(entry));
  return to_json(Settings{{"list", std::move(values)}});
}

std::vector<Settings> list_from_json(const std::string& text) {
  const Settings settings = settings_from_json(text, "message from another rank");
  return SettingsReader(settings, "message").tables("list");
}

std::optional<Settings> read_json(const std::filesystem::path& file) {
  const std::optional<std::string> text = read_text(file);
  if (!text) return std::nullopt;
  Settings settings = settings_from_json(*text, file.string());
  require_known_format(file.string(), count_at(settings, "format").value_or(1), kFileFormat);
  return settings;
}

std::vector<Settings> read_json_lines(const std::filesystem::path& file) {
  std::istringstream in(read_text(file).value_or(""));
  std::vector<Settings> lines;
  std::int64_t number = 1;
  for (std::string line; std::getline(in, line) && !in.eof(); ++number) {
    lines.push_back(settings_from_json(line, fmt::format("{}:{}", file.string(), number)));
  }
  return lines;
}

}  // namespace convoke::metrics
