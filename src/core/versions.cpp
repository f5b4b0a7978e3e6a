#include "convoke/core/versions.hpp"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "convoke/core/error.hpp"
#include "convoke/core/lookup.hpp"

namespace convoke {
namespace {

/// A key that had another name, or had this text as its value.
struct Renamed {
  std::string_view path;  ///< of the key, before
  std::string_view text;  ///< empty: the key itself was renamed
  std::string_view now;   ///< the name in the same table, or the text
};

constexpr std::array kRenamed{
    Renamed{"train.lane", "", "micro_batch"},
    Renamed{"data.portion", "", "fraction"},
    Renamed{"portion", "", "fraction"},
    Renamed{"disturbed_above", "", "contended_above"},
    Renamed{"model.batch_norm", "lane", "micro_batch"},
};

// A study also has keys of recipes, in these tables.
constexpr std::array<std::string_view, 3> kTables{"", "set.", "axes."};

std::string path_now(std::string_view path, std::string_view now) {
  return fmt::format("{}{}", path.substr(0, path.rfind('.') + 1), now);
}

// Calls `work(path, renamed)` for each key of the document that was renamed, or has a renamed text.
template <class Work>
void for_each_renamed(const Settings& document, const Work& work) {
  for (const std::string_view table : kTables) {
    for (const Renamed& renamed : kRenamed) {
      const std::string path = fmt::format("{}{}", table, renamed.path);
      const Value* const value = value_at(document, path);
      if (value != nullptr && (renamed.text.empty() || *value == Value(renamed.text))) work(path, renamed);
    }
  }
}

}  // namespace

std::pair<std::string, std::string> current_entry(std::string path, std::string value) {
  for (const Renamed& renamed : kRenamed) {
    if (path != renamed.path) continue;
    if (renamed.text.empty()) return {path_now(path, renamed.now), std::move(value)};
    if (value == Value(renamed.text).to_string()) value = Value(renamed.now).to_string();
  }
  return {std::move(path), std::move(value)};
}

void rename_keys(Settings& document) {
  if (Value::Array layers = list_at(document, "model.layers"); !layers.empty()) {
    for (Value& layer : layers) {
      if (layer.table() != nullptr) rename_layer_keys(*layer.table());
    }
    document.set_path("model.layers", std::move(layers), document.place("model.layers"));
  }
  for_each_renamed(document, [&](const std::string& path, const Renamed& renamed) {
    if (renamed.text.empty()) {
      document.rename(path, renamed.now);
    } else {
      document.set_path(path, renamed.now, document.place(path));
    }
  });
}

void rename_layer_keys(Settings& layer) { layer.rename("centres", "centers"); }

void refuse_renamed_keys(const Settings& document) {
  for_each_renamed(document, [&](const std::string& path, const Renamed& renamed) {
    const std::string& place = document.place(path);
    const std::string where = place.empty() ? "" : place + ": ";
    if (renamed.text.empty()) {
      throw Error(fmt::format("{}\"{}\" is now \"{}\"", where, path, path_now(path, renamed.now)),
                  fmt::format("write {}; its values mean the same", renamed.now));
    }
    throw Error(fmt::format("{}\"{}\" = \"{}\" is now \"{}\"", where, path, renamed.text, renamed.now),
                fmt::format("write \"{}\"", renamed.now));
  });
}

}  // namespace convoke
