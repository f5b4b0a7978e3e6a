#pragma once
#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "convoke/data/augmenter.hpp"
#include "convoke/recipe/recipe.hpp"
#include "convoke/run/model_file.hpp"

// What commands that use trained models have in common.

namespace convoke::app {

/// The recipe of the run that a model file (or run folder) belongs to: recipe.toml beside it, if there is
/// one.
std::optional<recipe::Recipe> recipe_beside(const std::filesystem::path& model_file);

/// `rule` if it is given (throws Error if it is unknown), else that of the run, else "majority".
std::string voting_rule(const std::string& rule, const std::optional<recipe::Recipe>& recipe);

/// The option --precision of commands that evaluate: "fp32" or "bf16".
void add_precision(CLI::App& parser, nn::Precision& precision);

/// "bf16; trained in fp32": what is computed in, and what in training if that was another. Throws Error if
/// this machine does not compute in `precision`; `recipe`: the run's, which may ask for emulation.
std::string precision_text(nn::Precision precision, const run::ModelDescription& model,
                           const std::optional<recipe::Recipe>& recipe);

/// The option --tta of commands that evaluate: how many views of a sample.
CLI::Option* add_views(CLI::App& parser, std::int64_t& views);

/// What makes the views of samples: [augment] of the run, without gaps and mixtures; null where `views` is 1.
/// Throws Error if the run has none.
std::shared_ptr<const data::Augmenter> test_augmenter(std::int64_t views, const run::ModelDescription& model,
                                                      const std::optional<recipe::Recipe>& recipe,
                                                      data::SampleType type);

/// "model.h5: one model" or "ensemble.h5: ensemble of 4".
std::string describe(const std::filesystem::path& model_file, const run::ModelSet& models);

}  // namespace convoke::app
