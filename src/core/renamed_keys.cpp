#include "convoke/core/renamed_keys.hpp"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "convoke/core/error.hpp"
#include "convoke/core/lookup.hpp"

namespace convoke {
namespace {

struct Renamed {
  std::string_view before;  ///< path
  std::string_view now;     ///< name in the same table
};

constexpr std::array kRenamed{
    Renamed{"train.lane", "micro_batch"},
    Renamed{"data.portion", "fraction"},
    Renamed{"portion", "fraction"},
    Renamed{"disturbed_above", "contended_above"},
};

struct RenamedText {
  std::string_view key, before, now;
};

constexpr std::array kRenamedTexts{
    RenamedText{"model.batch_norm", "lane", "micro_batch"},
};

// A study also has keys of recipes, in these tables.
constexpr std::array<std::string_view, 3> kTables{"", "set.", "axes."};

std::string path_now(std::string_view before, std::string_view now) {
  return fmt::format("{}{}", before.substr(0, before.rfind('.') + 1), now);
}

}  // namespace

std::string current_key(std::string_view path) {
  for (const auto& [before, now] : kRenamed) {
    if (path == before) return path_now(before, now);
  }
  return std::string(path);
}

void rename_keys(Settings& document) {
  if (Value::Array layers = list_at(document, "model.layers"); !layers.empty()) {
    for (Value& layer : layers) {
      if (layer.table() != nullptr) rename_layer_keys(*layer.table());
    }
    document.set_path("model.layers", std::move(layers), document.place("model.layers"));
  }
  for (const std::string_view table : kTables) {
    for (const auto& [before, now] : kRenamed) document.rename(fmt::format("{}{}", table, before), now);
    for (const auto& [key, before, now] : kRenamedTexts) {
      const std::string path = fmt::format("{}{}", table, key);
      const Value* const value = value_at(document, path);
      if (value != nullptr && *value == Value(before)) document.set_path(path, now, document.place(path));
    }
  }
}

void rename_layer_keys(Settings& layer) { layer.rename("centres", "centers"); }

void refuse_renamed_keys(const Settings& document) {
  for (const std::string_view table : kTables) {
    for (const auto& [before, now] : kRenamed) {
      const std::string path = fmt::format("{}{}", table, before);
      if (value_at(document, path) == nullptr) continue;
      const std::string& place = document.place(path);
      throw Error(fmt::format("{}{}\"{}\" is now \"{}\"", place, place.empty() ? "" : ": ", path,
                              path_now(path, now)),
                  fmt::format("write {}; its values mean the same", now));
    }
    for (const auto& [key, before, now] : kRenamedTexts) {
      const std::string path = fmt::format("{}{}", table, key);
      const Value* const value = value_at(document, path);
      if (value == nullptr || !(*value == Value(before))) continue;
      const std::string& place = document.place(path);
      throw Error(fmt::format("{}{}\"{}\" = \"{}\" is now \"{}\"", place, place.empty() ? "" : ": ", path,
                              before, now),
                  fmt::format("write \"{}\"", now));
    }
  }
}

}  // namespace convoke
