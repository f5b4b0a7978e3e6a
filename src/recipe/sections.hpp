#pragma once
#include <array>
#include <string_view>

#include "convoke/core/settings.hpp"
#include "convoke/recipe/recipe.hpp"
#include "convoke/recipe/toml.hpp"

// One file per section; each reads and writes its keys side by side, so a new key is two lines in one file.
namespace convoke::recipe {

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

Settings write(const DataRecipe& data);
Settings write(const ModelRecipe& model);
Settings write(const data::AugmentOptions& options);
Settings write(const TrainRecipe& train);
Settings write(const EnsembleRecipe& ensemble);
Settings write(const RunRecipe& run);
Settings write(const train::LogOptions& log);

/// A name that a recipe may use.
struct Name {
  std::string_view name;
};

/// A name in a recipe, and what it stands for.
template <class T>
struct Named {
  std::string_view name;
  T value;
};

/// A number, or the word for 0.
inline Value count_or(std::int64_t count, std::string_view word) {
  return count == 0 ? Value(word) : Value(count);
}

}  // namespace convoke::recipe
