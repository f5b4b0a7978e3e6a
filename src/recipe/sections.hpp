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

// One file per section. It holds the section's keys, an entry each, and what must be true of several keys
// together.
namespace convoke::recipe {

/// A section of a recipe, as its keys describe it.
struct Section {
  std::string_view name;   ///< "train"; empty: the keys at the top
  std::string_view about;  ///< a sentence or two for the documentation
  std::vector<KeyDescription> (*keys)();
  Settings (*write)(const Recipe& recipe);
};

/// The section whose keys are `kKeys`, an array of Key, and whose values are a member of Recipe.
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

/// All of them, in the order in which recipes are written; first the keys at the top.
std::span<const Section> sections();

/// Throws Error for the first key, at the top or in a section, that does not exist. The message names the
/// nearest key, also where it belongs elsewhere: "train.optimizer.learning_rate" for "train.learning_rate".
void require_known_keys(const TomlDocument& document);

/// The graph of [model], with what it freezes.
nn::Graph graph_of(const ModelRecipe& model);
ModelRecipe read_model(const TomlDocument& document);
/// `model`: what a sample is decides defaults.
DataRecipe read_data(const TomlDocument& document, const ModelRecipe& model);
/// `lane`: samples of which neighbours may be mixed.
data::AugmentOptions read_augment(const TomlDocument& document, const ModelRecipe& model, std::int64_t lane);
/// `model`: whose nodes groups name.
TrainRecipe read_train(const TomlDocument& document, const ModelRecipe& model);
EnsembleRecipe read_ensemble(const TomlDocument& document);
RunRecipe read_run(const TomlDocument& document);
train::LogOptions read_log(const TomlDocument& document);

}  // namespace convoke::recipe
