#pragma once
#include <CLI/CLI.hpp>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/options.hpp"
#include "convoke/data/augmenter.hpp"
#include "convoke/engine/evaluator.hpp"
#include "convoke/mpi/communicator.hpp"
#include "convoke/recipe/recipe.hpp"
#include "convoke/run/model_file.hpp"

// For the commands that use trained models.

namespace convoke::app {

/// The samples at most whose outputs inspect_outputs() sees.
constexpr std::int64_t kFirstOutputs = 64;

/// Returns the models in `file`, which rank 0 reads; it prints what the import changed as notes. Collective.
run::ModelSet models_of(const std::filesystem::path& file, const ModelReading& reading,
                        const mpi::Communicator& world);

/// Returns how the models are evaluated.
engine::EvaluatorOptions evaluator_options(const run::ModelDescription& model, int threads,
                                           nn::Precision precision);

/// Looks at the first outputs if only an assumption says what they are. Outputs that are at least 0 and have
/// the sum 1 are probabilities, which a note says. Throws Error if outputs that the file or the user calls
/// probabilities are none. `first_outputs`: of the first samples, computed by rank 0. Collective.
void inspect_outputs(run::ModelSet& models, const engine::EvaluatorOptions& options,
                     const mpi::Communicator& world,
                     const std::function<std::vector<float>(engine::Evaluator&)>& first_outputs);

/// The recipe of the run that a model file belongs to: recipe.toml in the same folder, if it exists.
std::optional<recipe::Recipe> recipe_beside(const std::filesystem::path& model_file);

/// `rule` if it is given, else the rule of the run, else "majority". Throws Error for an unknown rule.
std::string voting_rule(const std::string& rule, const std::optional<recipe::Recipe>& recipe);

/// Adds the option --precision: "fp32" or "bf16".
void add_precision(CLI::App& parser, nn::Precision& precision);

/// "bf16; trained in fp32": the precision of this evaluation, and that of the training if it differs. Throws
/// Error if this machine cannot compute in `precision`, unless `recipe`, that of the run, allows emulation.
std::string precision_text(nn::Precision precision, const run::ModelDescription& model,
                           const std::optional<recipe::Recipe>& recipe);

/// Adds the option --tta: the number of views of each sample.
CLI::Option* add_views(CLI::App& parser, std::int64_t& views);

/// Makes the views of samples by [augment] of the run, without cut-outs and mixtures; null if `views` is 1.
/// Throws Error if the run has no such augmentation.
std::shared_ptr<const data::Augmenter> test_augmenter(std::int64_t views, const run::ModelDescription& model,
                                                      const std::optional<recipe::Recipe>& recipe,
                                                      data::SampleType type);

/// "model.h5: one model" or "ensemble.h5: ensemble of 4".
std::string describe(const std::filesystem::path& model_file, const run::ModelSet& models);

}  // namespace convoke::app
