#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "convoke/core/error.hpp"
#include "convoke/data/augmenter.hpp"
#include "convoke/data/epoch_plan.hpp"
#include "convoke/engine/lane_engine.hpp"
#include "convoke/optim/optimizer.hpp"
#include "convoke/optim/schedule.hpp"
#include "convoke/run/checkpoint.hpp"
#include "convoke/run/checkpoint_interval.hpp"
#include "convoke/run/initial_weights.hpp"
#include "convoke/run/model_file.hpp"
#include "convoke/run/stop_agreement.hpp"
#include "convoke/train/early_stopping.hpp"
#include "convoke/train/ranking.hpp"
#include "convoke/train/stage.hpp"

namespace convoke::train {

/// Ends the job although a single member met it: what fails is needed by all, as the disk of the run folder.
struct JobError : Error {
  using Error::Error;
};

/// What a run logs besides metrics.jsonl.
struct LogOptions {
  bool csv = false;          ///< metrics.csv
  bool tensorboard = false;  ///< event files in tensorboard/
};

/// What to train: a recipe in the types of this area, without ranks and files.
struct Job {
  explicit Job(run::ModelDescription description) : model(std::move(description)) {}

  std::string name;
  run::ModelDescription model;
  engine::EngineOptions engine;  ///< its seed is that of the run; a member has its own
  std::shared_ptr<const optim::Optimizer> optimizer;
  std::shared_ptr<const optim::Schedule> schedule;
  double learning_rate = 1e-3;
  std::vector<Stage> stages;        ///< by rising epoch
  std::int64_t cache_features = 0;  ///< views of a sample whose features are kept (FeatureCache); 0: none
  std::size_t cache_bytes = 0;      ///< of a node, beyond which they go to a file; 0: half of what is free
  std::int64_t epochs = 1;
  data::Shuffle shuffle;
  data::Sampling sampling = data::Sampling::kAll;
  std::shared_ptr<const data::Augmenter>
      augmenter;                ///< of training samples; null: they are taken as they are
  double validation_split = 0;  ///< of the training samples; 0: none, or those of a split of its own
  double portion = 1;           ///< of the training samples that are not held out, (0, 1]
  std::shared_ptr<const run::InitialWeights> weights;  ///< what training starts from; null: initial values
  std::int64_t validate_every = 0;                     ///< steps, besides each epoch's end; 0: only there
  EarlyStopping early_stopping;
  std::int64_t top_k = kDefaultTopK;  ///< of evaluations
  run::CheckpointInterval checkpoint_every;
  std::int64_t keep_checkpoints = 2;  ///< the newest so many
  run::Deadline job_end;              ///< when the batch system ends the job, for those who watch
  run::Deadline deadline;             ///< when to stop, with a checkpoint
  std::uint64_t memory_bytes = 0;     ///< of a node, for all ranks; 0: what it has
  LogOptions log;
  std::int64_t keep_best = 1;  ///< models of the best validation, and of those that were it before; 0: none

  bool ensemble = false;     ///< independent members; else one model on all ranks
  std::int64_t members = 1;  ///< > 0
  data::Sharding shards = data::Sharding::kFull;
  std::string shards_name = "full";
  std::string rule = "majority";  ///< of the verdict

  run::Fingerprint fingerprint;  ///< what must be equal to resume
  std::string recipe;            ///< resolved, as TOML: kept in checkpoints

  /// The engine of a member.
  engine::EngineOptions engine_for(std::uint64_t seed) const;
};

/// The seed of a member: the run's for member 0, else a number keyed by (seed, member) below 2^32.
std::uint64_t member_seed(std::uint64_t seed, std::int64_t member);

}  // namespace convoke::train
