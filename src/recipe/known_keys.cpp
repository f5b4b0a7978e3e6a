#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "convoke/core/error.hpp"
#include "convoke/core/table.hpp"
#include "convoke/core/text.hpp"
#include "sections.hpp"

// All keys of a recipe together: unknown ones, those without an effect, and the reference for the
// documentation.

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

/// A key, or a section, whose values have an effect only on a condition.
struct Dependent {
  std::string_view path;
  std::string_view lack;
  bool (*used)(const Recipe& recipe);
};

// An image without 3 channels is gray.
bool has_colors(const Recipe& recipe) { return recipe.model.input.size() != 3 || recipe.model.input[0] == 3; }

constexpr std::array kDependents{
    Dependent{"augment.mix_probability", "without augment.mixup or augment.cutmix",
              [](const Recipe& recipe) { return recipe.augment.mixes(); }},
    Dependent{"augment.crop_ratio", "without augment.random_resized_crop",
              [](const Recipe& recipe) {
                return recipe.augment.random_resized_crop != data::AugmentOptions{}.random_resized_crop;
              }},
    Dependent{"augment.randaugment_magnitude", "without augment.randaugment",
              [](const Recipe& recipe) { return recipe.augment.randaugment > 0; }},
    Dependent{"augment.fill_mode", "without a crop, shift, rotation, shear, zoom or RandAugment",
              [](const Recipe& recipe) { return recipe.augment.needs_fill(); }},
    Dependent{"augment.cval", "without augment.fill_mode = \"constant\" and a change that moves pixels",
              [](const Recipe& recipe) {
                return recipe.augment.needs_fill() && recipe.augment.fill.mode == data::FillMode::kConstant;
              }},
    Dependent{"augment.saturation_range", "on images that do not have 3 channels", has_colors},
    Dependent{"augment.hue_range", "on images that do not have 3 channels", has_colors},
    // A student has the recipe of its teachers.
    Dependent{"ensemble", "without train.mode = \"ensemble\"",
              [](const Recipe& recipe) {
                return recipe.train.mode == "ensemble" || !recipe.train.loop.distill.teacher.empty();
              }},
    Dependent{"train.wire", "with a train.strategy that sends no gradients",
              [](const Recipe& recipe) { return recipe.train.loop.strategy->sums_gradients(0); }},
    Dependent{"train.state_precision", "with an optimizer that has no state",
              [](const Recipe& recipe) { return recipe.train.loop.optimizer->state_slots() > 0; }},
    Dependent{"model.partial", "without model.weights",
              [](const Recipe& recipe) { return !recipe.model.weights.empty(); }},
    Dependent{"run.cache_mib", "without model.cache_features",
              [](const Recipe& recipe) { return recipe.model.cache_features > 0; }},
    Dependent{"train.emulate_bf16", "without train.precision = \"bf16\"",
              [](const Recipe& recipe) { return recipe.train.step.precision == nn::Precision::kBfloat16; }},
    Dependent{"run.keep_best", "without data.validation_split",
              [](const Recipe& recipe) {
                return recipe.data.validates() || recipe.run.checkpoints.keep_best == 0;
              }},
};

std::string code(const std::string& text) { return text.empty() ? "" : fmt::format("`{}`", text); }

// Returns a default: TOML, or words for a default that depends on other values.
std::string default_text(const KeyDescription& key) {
  if (key.required) return "required";
  const bool words = key.fallback.find(' ') != std::string::npos && key.fallback.find_first_of("[{") != 0;
  return words ? key.fallback : code(key.fallback);
}

void add_row(std::string& out, const std::string& table, const KeyDescription& key) {
  out += fmt::format("| {}`{}` | {} | {} | {} | {} | {} |\n", table, key.name, key.type, default_text(key),
                     key.range, key.effect == Effect::kNone ? "" : "yes", key.help);
}

constexpr const char* kColumns = "type | default | allowed | result | meaning |\n";

// Writes the keys of the tables that a key accepts, each with the name of its table.
void add_tables(std::string& out, const std::string& path, const KeyDescription& key) {
  const std::vector<OptionTable> tables = key.tables();
  const bool named = tables.size() > 1;
  out += fmt::format("\n### `{}`\n\n| {}key | {}|---|{}---|---|---|---|---|\n", path,
                     named ? key.name + " | " : "", kColumns, named ? "---|" : "");
  for (const OptionTable& table : tables) {
    const std::string name = table.name.empty() ? "all | " : fmt::format("`{}` | ", table.name);
    for (const KeyDescription& option : table.keys) add_row(out, named ? name : "", option);
    if (table.keys.empty()) out += fmt::format("| {} | | | | | | |\n", name.substr(0, name.size() - 3));
  }
}

}  // namespace

void note_unused_keys(Recipe& recipe) {
  for (const Section& section : sections()) {
    const Settings values = section.write(recipe);
    for (const KeyDescription& key : section.keys()) {
      const std::string path = section.path(key.name);
      const auto* const found = std::ranges::find_if(kDependents, [&](const Dependent& dependent) {
        return dependent.path == path || dependent.path == section.name;
      });
      if (found == kDependents.end() || found->used(recipe)) continue;
      const Value* const value = values.find(key.name);
      if (value == nullptr || *value == parse_value(key.fallback, "")) continue;
      recipe.model.notes.push_back(
          fmt::format("{} = {} has no effect {}", path, value->to_string(), found->lack));
    }
  }
}

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

std::string key_reference() {
  std::string out;
  for (const Section& section : sections()) {
    const std::vector<KeyDescription> keys = section.keys();
    out += fmt::format("{}## {}\n\n{}\n\n| key | {}|---|---|---|---|---|---|\n", out.empty() ? "" : "\n",
                       section.name.empty() ? "At the top" : fmt::format("`[{}]`", section.name),
                       section.about, kColumns);
    for (const KeyDescription& key : keys) add_row(out, "", key);
    for (const KeyDescription& key : keys) {
      if (key.tables != nullptr) add_tables(out, section.path(key.name), key);
    }
  }
  return out;
}

std::vector<std::string> keys_of_result() {
  std::vector<std::string> paths;
  for (const Section& section : sections()) {
    for (const KeyDescription& key : section.keys()) {
      if (key.effect != Effect::kNone) paths.push_back(section.path(key.name));
    }
  }
  return paths;
}

}  // namespace convoke::recipe
