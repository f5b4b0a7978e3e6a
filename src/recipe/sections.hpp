#pragma once
#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "convoke/core/keys.hpp"
#include "convoke/core/settings.hpp"
#include "convoke/recipe/recipe.hpp"
#include "convoke/recipe/toml.hpp"

// One file per section: one entry for each key of the section, and the conditions on several keys together
// (those of [train] are in train_conditions.cpp).
namespace convoke::recipe {

/// A section of a recipe, made from its keys.
struct Section {
  std::string_view name;   ///< "train"; empty: the keys at the top
  std::string_view about;  ///< a sentence or two for the documentation
  std::vector<KeyDescription> (*keys)();
  Settings (*write)(const Recipe& recipe);
};

/// Returns the section whose keys are `kKeys`, an array of Key, and whose values are a member of Recipe.
template <const auto& kKeys, auto kMember>
Section section_of(std::string_view name, std::string_view about) {
  return {name, about, [] { return describe_keys(kKeys); },
          [](const Recipe& recipe) {
            Settings settings;
            write_keys(kKeys, recipe.*kMember, settings);
            return settings;
          }};
}

Section data_section();
Section augment_section();
Section model_section();
Section train_section();
Section ensemble_section();
Section run_section();
Section log_section();

/// Returns all sections in the order in which recipes are written; the keys at the top come first.
std::span<const Section> sections();

/// Throws Error for the first unknown key, at the top or in a section. The message suggests the nearest key,
/// also of another section: "train.optimizer.learning_rate" for "train.learning_rate".
void require_known_keys(const Settings& document);

/// Returns the graph of [model], with frozen nodes marked.
nn::Graph graph_of(const ModelRecipe& model);
ModelRecipe read_model(const Settings& document);
/// `model`: the type of a sample decides defaults.
DataRecipe read_data(const Settings& document, const ModelRecipe& model);
/// `micro_batch`: number of samples that can be mixed with each other.
data::AugmentOptions read_augment(const Settings& document, const ModelRecipe& model,
                                  std::int64_t micro_batch);
/// `model`: the nodes that groups name. `data`: tells if there are samples for validations.
TrainRecipe read_train(const Settings& document, const ModelRecipe& model, const DataRecipe& data);
/// Checks the conditions on several keys of [train], and replaces the patterns of groups and stages by the
/// nodes that they name. Throws Error. `read`: of the section.
void check_train(SettingsReader& read, const ModelRecipe& model, const DataRecipe& data, TrainRecipe& train);
train::EnsembleOptions read_ensemble(const Settings& document);
RunRecipe read_run(const Settings& document);
train::LogOptions read_log(const Settings& document);

}  // namespace convoke::recipe
