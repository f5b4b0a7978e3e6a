#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "convoke/core/settings.hpp"
#include "convoke/data/augment_options.hpp"
#include "convoke/data/epoch_plan.hpp"
#include "convoke/engine/lane_engine.hpp"
#include "convoke/nn/graph.hpp"
#include "convoke/nn/plan/parameters.hpp"
#include "convoke/nn/rate_groups.hpp"
#include "convoke/run/checkpoint_interval.hpp"
#include "convoke/train/job.hpp"
#include "convoke/train/stage.hpp"

namespace convoke::recipe {

struct DataRecipe {
  std::string path;  ///< as written; see resolve_dataset
  std::string train_split = "train";
  std::string test_split = "test";
  std::string normalize = "unit";  ///< unit | standard | none; default where the input is not an image: none
  double validation_split = 0;     ///< last fraction of the training samples (of each shard), as Keras
  double portion = 1;              ///< of the training samples that are not held out (of each shard), (0, 1]
  data::Sampling sampling = data::Sampling::kAll;
  std::string validation_name;  ///< or a split of its own; empty: none
  std::string shuffle = "all";  ///< all | none | chunks; written true, false, "chunks"
  std::uint64_t window = 0;     ///< of "chunks", in bytes, see data::Shuffle
  std::uint64_t memory = 0;     ///< bytes of a node for samples; 0: "auto", half of what it has

  bool validates() const { return validation_split > 0 || !validation_name.empty(); }
  /// For samples of so many bytes.
  data::Shuffle shuffle_of(std::int64_t sample_bytes) const;
};

struct ModelRecipe {
  std::vector<std::int64_t> input;  ///< (C, H, W); must equal the dataset's
  std::vector<Settings> layers;     ///< as nn::build_graph takes them, every hyper-parameter written out
  std::string zoo;                  ///< the published network that `layers` are; empty: written in the recipe
  std::int64_t classes = 1000;      ///< of a zoo model, as written: `layers` have it
  bool head = true;                 ///< likewise
  std::string batch_norm;  ///< "lane", "synchronized": of all batch norms, as written; empty: each its own
  std::string weights;     ///< a model file or run folder to start from; empty: initial values
  std::vector<std::string> freeze;  ///< see nn::freeze; words of the zoo are resolved (nn::resolve_parts)
  std::int64_t cache_features = 0;  ///< views of a sample; 0: off. See train::FeatureCache
};

struct TrainRecipe {
  std::string mode = "sync";  ///< sync | ensemble
  std::int64_t epochs = 1;
  std::int64_t batch = 64;  ///< global batch; per member in an ensemble
  std::int64_t lane = 0;    ///< samples; 0: "auto"
  engine::Reduction reduction = engine::Reduction::kFast;
  nn::ConvolutionChoice convolution = nn::ConvolutionChoice::kAuto;
  nn::Precision precision = nn::Precision::kFloat32;
  bool emulate_bf16 = false;     ///< where the processor has no bf16
  Settings loss;                 ///< see nn::make_loss, every option written out
  bool balance_classes = false;  ///< the loss is to have class weights from the counts of the training split
  engine::UpdateOptions update;  ///< clip_value, clip_norm, ema
  Settings optimizer;            ///< with name and learning_rate
  Settings schedule;
  double learning_rate = 1e-3;        ///< from optimizer.learning_rate
  std::int64_t validate_every = 0;    ///< steps, in addition to each epoch's end; 0: only there
  Settings early_stopping;            ///< every option written out; empty: none
  std::int64_t top_k = 5;             ///< of evaluations; 0: none
  std::int64_t reference_batch = 0;   ///< the batch that learning_rate is meant for; 0: whichever it is
  std::vector<train::Stage> stages;   ///< by rising epoch; patterns are resolved, as those of groups
  std::vector<nn::RateGroup> groups;  ///< whose patterns are resolved, as model.freeze
};

struct EnsembleRecipe {
  std::int64_t members = 0;  ///< 0: "ranks", one per rank
  std::int64_t member = -1;  ///< the only one to be trained, from 0; -1: "all"
  data::Sharding shards = data::Sharding::kContiguous;
  std::string rule = "majority";  ///< the rule of the verdict; every rule is reported
};

struct RunRecipe {
  int threads = 0;  ///< worker threads per rank; 0: "auto"
  run::CheckpointInterval checkpoint_every;
  std::int64_t keep_checkpoints = 2;  ///< the newest so many
  std::int64_t keep_best = 1;         ///< models of the best validation and of the bests before it; 0: none
  double stop_before = 0;             ///< seconds before the end of a Slurm job; 0: never
  std::int64_t bucket_kib = 0;        ///< 0: "auto"
  std::int64_t memory_mib = 0;        ///< of a node, for all its ranks; 0: "auto", what it has
  bool report = true;                 ///< write report.html at the end
  std::int64_t cache_mib = 0;         ///< of features in a node's memory, beyond it a file; 0: "auto"
};

/// A recipe, checked as a whole.
struct Recipe {
  std::string name;
  std::string description;
  std::uint64_t seed = 1;
  DataRecipe data;
  data::AugmentOptions augment;  ///< of training samples
  ModelRecipe model;
  TrainRecipe train;
  EnsembleRecipe ensemble;
  RunRecipe run;
  train::LogOptions log;
  std::filesystem::path folder;  ///< of the file it was read from; empty if it was made from text

  /// Reads a recipe (a TOML file, or a folder with recipe.toml, or the name of a recipe that comes with
  /// Convoke) and applies "key=value" changes. Throws Error with file and line for whatever is wrong.
  static Recipe load(const std::string& recipe, const std::vector<std::string>& changes = {});
  /// The same from a text; `source` names it in messages ("recipe.toml").
  static Recipe parse(const std::string& toml, const std::string& source,
                      const std::vector<std::string>& changes = {});

  /// The graph of [model]. Throws Error naming the layer and both shapes where one does not fit.
  nn::Graph graph() const;
  std::int64_t lane() const;  ///< resolved
  /// The base rate: by the linear scaling rule where there is a reference batch (Goyal et al., "Accurate,
  /// large minibatch SGD", 2017), learning_rate * batch / reference_batch.
  double learning_rate() const;
  /// Every key with its value, defaults included, in the order in which recipes are written.
  Settings settings() const;
  /// settings() as TOML; parses back to an equal recipe.
  std::string to_toml() const;

  /// Equal settings; where they were written does not count.
  friend bool operator==(const Recipe& a, const Recipe& b) { return a.settings() == b.settings(); }
};

/// Where the dataset of a recipe is: as written (from the working directory, then from the recipe's folder),
/// then under $CONVOKE_DATA, then in the cache (~/.cache/convoke). Throws Error listing the places and the
/// command that makes it.
std::filesystem::path resolve_dataset(const Recipe& recipe);

/// Text <-> enum, for messages and files.
std::string to_string(engine::Reduction reduction);
std::string to_string(nn::ConvolutionChoice convolution);
std::string to_string(nn::Precision precision);
std::string to_string(data::Sharding sharding);

}  // namespace convoke::recipe
