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

/// Which models a command uses, and how.
struct ModelOptions {
  std::string model;
  ModelReading reading;
  std::string rule;        ///< empty: that of the run
  int threads = 0;         ///< per rank; 0: auto
  std::int64_t views = 1;  ///< of each sample; the outputs are averaged
  nn::Precision precision = nn::Precision::kFloat32;
};

/// Models, and what follows from the run that they belong to.
struct ModelsInUse {
  std::filesystem::path file;
  run::ModelSet models;
  std::optional<recipe::Recipe> recipe;  ///< of the run: recipe.toml in the folder of `file`, if it exists
  std::string rule;                      ///< that of the options, else that of the run, else "majority"
  /// "bf16; trained in fp32": the precision of this evaluation, and that of the training if it differs.
  std::string precision;
};

/// Returns the models, which rank 0 reads; it prints what the import changed as notes. Throws Error for an
/// unknown rule, and if this machine cannot compute in the precision, unless the recipe of the run allows
/// emulation. Collective.
ModelsInUse models_for(const ModelOptions& options, const mpi::Communicator& world);

/// Returns how the models are evaluated.
engine::EvaluatorOptions evaluator_options(const run::ModelDescription& model, int threads,
                                           nn::Precision precision);

/// Looks at the first outputs if only an assumption says what they are. Outputs that are at least 0 and have
/// the sum 1 are probabilities, which a note says. Throws Error if outputs that the file or the user calls
/// probabilities are none. `first_outputs`: of the first samples, computed by rank 0. Collective.
void inspect_outputs(run::ModelSet& models, const engine::EvaluatorOptions& options,
                     const mpi::Communicator& world,
                     const std::function<std::vector<float>(engine::Evaluator&)>& first_outputs);

/// Adds the option --precision: "fp32" or "bf16".
void add_precision(CLI::App& parser, nn::Precision& precision);

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
