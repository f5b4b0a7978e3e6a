#pragma once
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "convoke/core/error.hpp"
#include "convoke/data/batch_loader.hpp"
#include "convoke/engine/evaluator.hpp"
#include "convoke/engine/lane_engine.hpp"
#include "convoke/metrics/progress.hpp"
#include "convoke/mpi/communicator.hpp"
#include "convoke/run/checkpoint.hpp"
#include "convoke/run/phases.hpp"
#include "convoke/run/signals.hpp"
#include "convoke/train/job.hpp"

namespace convoke::train {

/// The loss of a step was not finite. Names layer, rank, epoch and step; the same on all ranks of the group.
struct Divergence : Error {
  using Error::Error;
};

/// Which model a trainer trains, and on what.
struct Assignment {
  std::int64_t member = 0;
  std::uint64_t seed = 0;
  std::span<const std::uint32_t> training;    ///< sample ids
  std::span<const std::uint32_t> validation;  ///< may be empty
};

/// What becomes of the training of one model.
struct Outcome {
  bool interrupted = false;  ///< by a signal; there is a checkpoint to go on from
  std::int64_t epochs_done = 0;
  std::int64_t samples_processed = 0;  ///< by this run, all ranks of the group together
  double validation_accuracy = std::numeric_limits<double>::quiet_NaN();
  std::vector<float> parameters;  ///< canonical
};

/// Where a trainer tells how far it is.
struct Reports {
  metrics::Progress& progress;               ///< silent on all ranks but one
  std::function<void(const Settings&)> log;  ///< takes a line for metrics.jsonl; may be empty
};

/// Trains one model with the ranks of one group.
class Trainer {
 public:
  /// Collective over `group`. Everything given must outlive the trainer.
  Trainer(const Job& job, const Assignment& assignment, const data::BatchLoader& loader,
          const mpi::Communicator& group, run::Checkpoints checkpoints, Reports reports, run::Phases& phases);

  /// Starts from the weights that are given instead of initial values.
  void start_from(const run::InitialWeights& weights);

  /// Goes on from the newest usable checkpoint, if there is one. Collective. Throws Error as
  /// Checkpoints::newest.
  void resume();

  /// Trains to the last epoch, or until a signal. Collective. Throws Divergence.
  Outcome run();

 private:
  bool train_epoch();  // false: told to stop
  double take_step(std::span<const std::uint32_t> ids);
  void show(double images_per_second);
  void finish_epoch(double seconds, std::int64_t samples);
  void save_checkpoint();
  engine::Score validate();
  [[noreturn]] void diverged();

  const Job& job_;
  Assignment assignment_;
  const data::BatchLoader& loader_;
  const mpi::Communicator& group_;
  run::Checkpoints checkpoints_;
  Reports reports_;
  run::Phases& phases_;

  std::vector<engine::CanonicalParameter> parameters_;
  engine::LaneEngine engine_;
  std::optional<engine::Evaluator> evaluator_;  // made at the first validation
  run::StopAgreement stop_;
  run::CheckpointState state_;  // its arrays are filled when it is saved
  std::int64_t steps_per_epoch_ = 0;
  std::int64_t samples_processed_ = 0;
};

}  // namespace convoke::train
