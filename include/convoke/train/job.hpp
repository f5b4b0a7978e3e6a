#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "convoke/core/error.hpp"
#include "convoke/core/keys.hpp"
#include "convoke/core/settings.hpp"
#include "convoke/data/augmenter.hpp"
#include "convoke/data/epoch_plan.hpp"
#include "convoke/engine/step_engine.hpp"
#include "convoke/nn/graph.hpp"
#include "convoke/optim/optimizer.hpp"
#include "convoke/optim/schedule.hpp"
#include "convoke/run/checkpoint.hpp"
#include "convoke/run/checkpoint_interval.hpp"
#include "convoke/run/initial_weights.hpp"
#include "convoke/run/model_file.hpp"
#include "convoke/run/stopping.hpp"
#include "convoke/sync/strategy.hpp"
#include "convoke/train/distillation.hpp"
#include "convoke/train/early_stopping.hpp"
#include "convoke/train/evaluation.hpp"
#include "convoke/train/on_divergence.hpp"

namespace convoke::train {

/// A stage of fine-tuning: from an epoch on, more of the network is trained, at another learning rate
/// (gradual unfreezing: Howard and Ruder, "Universal language model fine-tuning", 2018).
struct Stage {
  std::int64_t epoch = 2;             ///< first epoch of the stage, counted from 1; at least 2
  std::vector<std::string> unfreeze;  ///< patterns, as in nn::freeze(); may be empty
  double learning_rate = 0;           ///< the base rate from this epoch on; 0: unchanged

  /// Reads { epoch = 5, unfreeze = ["layer4*"], learning_rate = 1e-4 }. Throws Error for a value out of
  /// range, or if the stage changes nothing.
  static Stage read(const Settings& settings);
  Settings settings() const;
  /// The keys of the recipe table.
  static std::vector<OptionTable> tables();
};

/// Returns how many of `stages` (ascending by epoch) have begun when `epochs_done` epochs are complete.
std::size_t stages_begun(std::span<const Stage> stages, std::int64_t epochs_done);

/// Returns `graph` as it is trained once `stages` have begun. The optimizer counts the steps of unfrozen
/// nodes from their stage on: they are frozen for `steps_per_epoch` steps in each epoch before. Throws Error
/// for a pattern that matches no node, or no frozen node.
nn::Graph unfrozen_by(std::span<const Stage> stages, nn::Graph graph, std::int64_t steps_per_epoch);

/// Returns the base learning rate once `stages` have begun; `first` if none has.
double learning_rate_after(std::span<const Stage> stages, double first);

/// An error that ends the job although a single member met it, because all members need what failed, such as
/// the disk of the run folder.
struct JobError : Error {
  using Error::Error;
};

// Sections of a recipe hold the structs of options below, and a job has them with every value resolved.

/// The training loop: what a step does with the gradients, how often steps are repeated, and what ends them.
struct LoopOptions {
  std::int64_t epochs = 1;
  std::shared_ptr<const optim::Optimizer> optimizer = optim::make_optimizer({});
  double learning_rate = 1e-3;  ///< the base rate
  std::shared_ptr<const optim::Schedule> schedule = optim::make_schedule({});
  std::shared_ptr<const sync::Strategy> strategy = sync::make_strategy({});
  std::vector<Stage> stages;          ///< in ascending order of epoch
  std::int64_t validate_every = 0;    ///< steps between validations within an epoch; 0: only at its end
  std::int64_t top_k = kDefaultTopK;  ///< for evaluations; 0: none
  EarlyStopping early_stopping;
  OnDivergence on_divergence;
  Distillation distill;  ///< with a teacher, the training samples have its soft labels
};

/// Which samples a model is trained on.
struct SampleOptions {
  double validation_split =
      0;                ///< fraction of the training samples (of each shard); 0: none, or a whole split
  double fraction = 1;  ///< of the training samples (of each shard) that are not held out, (0, 1]
  data::Sampling sampling = data::Sampling::kAll;
  bool bucket_by_length = false;  ///< EpochPlan::bucket_by_length; for tokens in memory
};

struct CheckpointOptions {
  run::CheckpointInterval every;
  std::int64_t keep = 2;       ///< number of newest checkpoints to keep
  std::int64_t keep_best = 1;  ///< number of best models (by validation) to keep; 0: none
  std::string fallback;        ///< folder for checkpoints that the run folder does not take; empty: none
};

struct MemoryOptions {
  std::uint64_t node_bytes = 0;  ///< memory of a node for all its ranks; 0: all of it
  /// Memory of a node for cached features, which otherwise go to a file; 0: half of the free memory.
  std::size_t cache_bytes = 0;
};

struct EnsembleOptions {
  std::int64_t members = 0;              ///< 0: one per rank (in a recipe)
  std::vector<std::int64_t> ranks = {};  ///< of each group; empty: as equal as possible
  std::int64_t member = -1;              ///< the only member to train, counted from 0; -1: all
  data::Sharding shards = data::Sharding::kContiguous;
  std::string rule = "majority";        ///< the voting rule that decides; every rule is reported
  std::vector<std::string> soups = {};  ///< the soups to make of the members (vote::find_soup)
};

/// Further lines of metrics.jsonl, in addition to the epochs.
struct LogOptions {
  std::int64_t every_steps = 0;  ///< steps between lines about a step; 0: none
  bool csv = false;              ///< metrics.csv
  bool tensorboard = false;      ///< event files in tensorboard/
};

/// A training job: a recipe in the types of this area, without ranks and files.
struct Job {
  explicit Job(run::ModelDescription description) : model(std::move(description)) {}

  std::string name;
  run::ModelDescription model;
  engine::EngineOptions engine;  ///< with the seed of the run; members have other seeds
  LoopOptions loop;
  SampleOptions samples;
  data::Shuffle shuffle;
  std::shared_ptr<const data::Augmenter> augmenter;    ///< for training samples; null: no augmentation
  std::shared_ptr<const run::InitialWeights> weights;  ///< weights to start from; null: initial values
  std::int64_t cache_features = 0;                     ///< cached views per sample (FeatureCache); 0: none
  CheckpointOptions checkpoints;
  MemoryOptions memory;
  LogOptions log;
  run::Deadline job_end;   ///< when the batch system ends the job, for `convoke watch`
  run::Deadline deadline;  ///< when to stop, with a checkpoint

  bool is_ensemble = false;  ///< true: independent members; false: one model on all ranks
  EnsembleOptions ensemble{.members = 1, .shards = data::Sharding::kFull};

  run::Fingerprint fingerprint;  ///< resume fingerprint: must be equal to resume
  std::string recipe;            ///< the resolved recipe as TOML, stored in checkpoints
};

/// Returns the network as `job` trains it in `epoch`, counted from 1.
nn::Graph graph_in_epoch(const Job& job, std::int64_t epoch);

/// Returns the seed of a member: the run's seed for member 0, otherwise a number below 2^32 keyed by (seed,
/// member).
std::uint64_t member_seed(std::uint64_t seed, std::int64_t member);

}  // namespace convoke::train
