#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "convoke/core/keys.hpp"
#include "convoke/core/settings.hpp"
#include "convoke/recipe/recipe.hpp"
#include "convoke/recipe/toml.hpp"

// One file per section ([log] is next to [run]): one entry for each key of the section, and the conditions on
// several keys together (those of [train] are in train_conditions.cpp).
namespace convoke::recipe {

/// A section of a recipe, made from its keys.
struct Section {
  std::string_view name;   ///< "train"; empty: the keys at the top
  std::string_view about;  ///< a sentence or two for the documentation
  std::vector<KeyDescription> (*keys)();
  Settings (*write)(const Recipe& recipe);
  /// Reads the keys and checks the conditions on several of them. Throws Error. `read`: of the section in
  /// `document`. Null for the keys at the top.
  void (*read)(SettingsReader& read, const Settings& document, Recipe& recipe) = nullptr;

  /// Returns "train.epochs", the path of a key; "seed" for a key at the top.
  std::string path(std::string_view key) const;
};

/// Returns the section whose keys are `kKeys`, an array of Key, and whose values are a member of Recipe.
/// `read`: as Section::read; by default it reads the keys, in which there are no further conditions.
template <const auto& kKeys, auto kMember>
Section section_of(std::string_view name, std::string_view about, decltype(Section::read) read = nullptr) {
  const auto read_all = [](SettingsReader& reader, const Settings&, Recipe& recipe) {
    read_keys(kKeys, reader, recipe.*kMember);
  };
  return {name, about, [] { return describe_keys(kKeys); },
          [](const Recipe& recipe) {
            Settings settings;
            write_keys(kKeys, recipe.*kMember, settings);
            return settings;
          },
          read != nullptr ? read : read_all};
}

Section model_section();
Section data_section();     ///< read after [model]: the type of a sample decides defaults
Section train_section();    ///< read after these: nodes that groups name, samples for validations
Section augment_section();  ///< read after these: samples of a micro-batch are mixed with each other
Section ensemble_section();
Section run_section();
Section log_section();

/// Returns all sections in the order in which recipes are written; the keys at the top come first.
std::span<const Section> sections();

/// Throws Error for the first unknown key, at the top or in a section. The message suggests the nearest key,
/// also of another section: "train.optimizer.learning_rate" for "train.learning_rate".
void require_known_keys(const Settings& document);

/// Adds a note to the model's for each key whose value has no effect, because a key that it needs is off.
void note_unused_keys(Recipe& recipe);

/// Returns the graph of [model], with frozen nodes marked.
nn::Graph graph_of(const ModelRecipe& model);
/// Checks the conditions on several keys of [train], and replaces the patterns of groups and stages by the
/// nodes that they name. Throws Error. `read`: of the section.
void check_train(SettingsReader& read, const ModelRecipe& model, const DataRecipe& data, TrainRecipe& train);

}  // namespace convoke::recipe
