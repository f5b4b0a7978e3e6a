#include <fmt/format.h>

#include <algorithm>

#include "convoke/core/error.hpp"
#include "convoke/core/table.hpp"
#include "convoke/core/text.hpp"
#include "sections.hpp"

namespace convoke::recipe {
namespace {

struct KnownKey {
  std::string name;  ///< "learning_rate"
  std::string path;  ///< "train.optimizer.learning_rate"
};

void add_paths(const std::vector<KeyDescription>& keys, const std::string& prefix,
               std::vector<KnownKey>& known) {
  for (const KeyDescription& key : keys) {
    known.push_back({key.name, prefix + key.name});
    if (key.tables == nullptr) continue;
    for (const OptionTable& table : key.tables()) add_paths(table.keys, prefix + key.name + ".", known);
  }
}

// Returns every key of a recipe, short paths first.
std::vector<KnownKey> all_keys() {
  std::vector<KnownKey> known;
  for (const Section& section : sections()) add_paths(section.keys(), section.path(""), known);
  const auto depth = [](const KnownKey& key) { return std::count(key.path.begin(), key.path.end(), '.'); };
  std::stable_sort(known.begin(), known.end(),
                   [&](const KnownKey& a, const KnownKey& b) { return depth(a) < depth(b); });
  return known;
}

// Returns ` (did you mean "train.optimizer.learning_rate"?)`: the nearest key in this table, otherwise the
// key of this name in another table, otherwise the nearest one there.
std::string suggestion(const std::string& name, const std::vector<std::string>& here) {
  if (std::string nearest = did_you_mean(name, here); !nearest.empty()) return nearest;
  const std::vector<KnownKey> known = all_keys();
  const std::string nearest = nearest_name(name, names_in(known));
  const auto found =
      std::find_if(known.begin(), known.end(), [&](const KnownKey& key) { return key.name == nearest; });
  if (found == known.end()) return "";
  if (found->path == name) return " (it belongs at the top, before the first section)";
  return fmt::format(" (did you mean \"{}\"?)", found->path);
}

void require_known(const Settings& table, std::string_view where, const std::vector<std::string>& here) {
  for (const auto& [name, value] : table.entries()) {
    if (std::find(here.begin(), here.end(), name) != here.end()) continue;
    throw Error(
        fmt::format("{}: {}: unknown key \"{}\"{}", table.place(name), where, name, suggestion(name, here)),
        fmt::format("known keys: {}", join(here)));
  }
}

}  // namespace

void require_known_keys(const Settings& document) {
  std::vector<std::string> top;
  for (const Section& section : sections()) {
    if (!section.name.empty()) {
      top.emplace_back(section.name);
    } else {
      top = names_in(section.keys());
    }
  }
  require_known(document, "recipe", top);
  for (const Section& section : sections()) {
    const Value* const value = document.find(section.name);
    if (value == nullptr || value->table() == nullptr) continue;
    require_known(*value->table(), fmt::format("[{}]", section.name), names_in(section.keys()));
  }
}

}  // namespace convoke::recipe
