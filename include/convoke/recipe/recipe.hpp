#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "convoke/core/settings.hpp"
#include "convoke/data/augment_options.hpp"
#include "convoke/data/epoch_plan.hpp"
#include "convoke/engine/step_engine.hpp"
#include "convoke/mpi/communicator.hpp"
#include "convoke/nn/freeze.hpp"
#include "convoke/nn/graph.hpp"
#include "convoke/nn/plan/parameters.hpp"
#include "convoke/train/job.hpp"

namespace convoke::recipe {

struct DataRecipe {
  std::string path;  ///< as written; see resolve_dataset
  std::string train_split = "train";
  std::string test_split = "test";
  std::string normalize =
      "unit";  ///< data::normalization_names(); default for inputs other than images: none
  train::SampleOptions samples;
  std::string validation_name;  ///< or the name of a separate split; empty: none
  std::string shuffle = "all";  ///< all | none | chunks; written true, false, "chunks"
  std::uint64_t window = 0;     ///< of "chunks", in bytes, see data::Shuffle
  std::uint64_t memory = 0;     ///< bytes of a node for samples; 0: "auto", half of its memory

  bool validates() const { return samples.validation_split > 0 || !validation_name.empty(); }
  /// Returns the names of the training split and of a separate validation split.
  std::vector<std::string> training_splits() const;
  /// Returns the shuffle for samples of this size in bytes.
  data::Shuffle shuffle_of(std::int64_t sample_bytes) const;
};

struct ModelRecipe {
  std::vector<std::int64_t> input;   ///< (C, H, W); must equal the dataset's
  std::vector<Settings> layers;      ///< as nn::build_graph takes them, with every hyper-parameter
  std::string zoo;                   ///< the published network in `layers`; empty: layers of the recipe
  std::string file;                  ///< the model file in `layers`, of any format; empty: none
  std::string output_node, outputs;  ///< of that file: see interop::ImportOptions, declare_outputs
  /// of a zoo model or a file, as written; already applied to `layers`; 0: the model's own
  std::int64_t classes = 0;
  bool head = true;        ///< of a zoo model; already applied to `layers`
  std::string batch_norm;  ///< "micro-batch", "synchronized": for all batch norms, as written; empty: each
                           ///< layer's own setting
  std::string weights;     ///< a model file or run folder to start from; empty: initial values
  bool partial = false;    ///< parameters in that file that the network lacks are left out
  std::vector<std::string> freeze;  ///< see nn::freeze; words of the zoo are resolved (nn::resolve_parts)
  std::int64_t cache_features = 0;  ///< cached views per sample; 0: off. See train::FeatureCache
  /// sentences on what reading `file` changed, and on settings of layers that have no effect
  std::vector<std::string> notes;
  Settings loss;            ///< that of `file` if it ends in sigmoids, for train.loss; empty: the default
  bool normalizes = false;  ///< the network of `file` begins with its own normalization of stored samples
};

struct TrainRecipe {
  std::string mode = "sync";  ///< sync | ensemble
  engine::StepOptions step;
  train::LoopOptions loop = train::LoopOptions();  ///< patterns of stages are resolved, as those of groups
  bool emulate_bf16 = false;                       ///< if the processor has no bf16
  nn::LossPtr loss = nn::default_loss();
  bool balance_classes = false;  ///< the loss has class weights from the class counts of the training split
  std::int64_t reference_batch = 0;   ///< the batch for which loop.learning_rate was chosen; 0: any batch
  std::vector<nn::RateGroup> groups;  ///< with resolved patterns, as in model.freeze
};

struct RunRecipe {
  engine::ExecutionOptions execution{.threads = 0};  ///< threads 0: "auto"
  train::CheckpointOptions checkpoints;
  train::MemoryOptions memory;
  double stop_before = 0;      ///< seconds before the end of a Slurm job; 0: never
  double stall_timeout = 600;  ///< seconds, see supervise::Watchdog; 0: never
  bool trace = false;          ///< write trace.json at the end
  bool report = true;          ///< write report.html at the end
};

/// A complete, checked recipe.
struct Recipe {
  std::string name;
  std::string description;
  std::uint64_t seed = 1;
  DataRecipe data;
  data::AugmentOptions augment;  ///< for training samples
  ModelRecipe model;
  TrainRecipe train;
  train::EnsembleOptions ensemble;
  RunRecipe run;
  train::LogOptions log;
  std::filesystem::path folder;  ///< folder of the recipe file; empty for a recipe from text

  /// Reads a recipe (a TOML file, a folder with recipe.toml, the name of a recipe that comes with Convoke or
  /// of a network, or a model file) and applies "key=value" changes. Throws Error with file and line for each
  /// mistake.
  static Recipe load(const std::string& recipe, const std::vector<std::string>& changes = {});
  /// Does the same, so that a mistake is reported before MPI starts. A recipe or model file that is not on
  /// this host is not a mistake, because it may be on that of rank 0: the result is then empty.
  static std::optional<Recipe> load_if_here(const std::string& recipe,
                                            const std::vector<std::string>& changes);
  /// Returns the recipe of rank 0 on all ranks; `here`: what load_if_here() returned. Collective; all ranks
  /// throw the Error of a file that rank 0 does not have, or of a rank that has another recipe.
  static Recipe of_root(std::optional<Recipe> here, const std::string& recipe,
                        const std::vector<std::string>& changes, const mpi::Communicator& world);
  /// Reads a recipe from a text; `source` names it in messages ("recipe.toml").
  static Recipe parse(const std::string& toml, const std::string& source,
                      const std::vector<std::string>& changes = {});

  /// Returns the graph of [model]. Throws Error naming the layer and both shapes if a layer does not fit.
  nn::Graph graph() const;
  std::int64_t micro_batch() const;  ///< "auto" is resolved
  /// Returns the base learning rate: with a reference batch, by the linear scaling rule (Goyal et al.,
  /// "Accurate, large minibatch SGD", 2017), learning_rate * batch / reference_batch.
  double learning_rate() const;
  /// Returns every key with its value, including defaults, in the order in which recipes are written.
  Settings settings() const;
  /// Returns settings() as TOML, which parses back to an equal recipe.
  std::string to_toml() const;

  /// Compares settings; their places in the text do not count.
  friend bool operator==(const Recipe& a, const Recipe& b) { return a.settings() == b.settings(); }
};

/// Finds the dataset of a recipe: at its path (from the working directory, then from the recipe's folder),
/// then under $CONVOKE_DATA, then in the cache (~/.cache/convoke). Throws Error that lists these places and
/// the command that makes the dataset.
std::filesystem::path resolve_dataset(const Recipe& recipe);

/// Returns tables of all recipe keys as Markdown, made from the entries of the keys: a part of
/// docs/recipes.md.
std::string key_reference();

/// Returns the paths of the keys that decide the result of a run (Effect), such as "train.optimizer".
std::vector<std::string> keys_of_result();

/// The names of values in recipes, for messages and files.
std::string to_string(engine::Reduction reduction);
std::string to_string(sync::Wire wire);
std::string to_string(nn::Precision precision);

}  // namespace convoke::recipe
