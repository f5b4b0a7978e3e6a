#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "convoke/engine/canonical.hpp"
#include "convoke/optim/schedule.hpp"
#include "convoke/run/best_so_far.hpp"

namespace convoke::run {

/// The resume fingerprint: what decides the result of a run, as "key" = "value" in the recipe's words. A
/// checkpoint can be resumed only where all of them are the same.
using Fingerprint = std::vector<std::pair<std::string, std::string>>;

/// Everything that a training loop must know to go on as if it had never stopped. All arrays are canonical,
/// so ranks, threads and machine may be others than before.
struct CheckpointState {
  std::int64_t epochs_done = 0;                                           ///< complete ones
  std::int64_t steps_done = 0;                                            ///< of the epoch under way
  std::int64_t updates = 0;                                               ///< steps since the start
  double best_validation_accuracy = 0;                                    ///< 0 if there is no validation
  double validation_accuracy = std::numeric_limits<double>::quiet_NaN();  ///< the last; NaN: none
  double loss_sum = 0;  ///< over the samples of the epoch under way
  double correct_sum = 0;
  optim::Feedback feedback;  ///< of the schedule
  BestSoFar best;            ///< of validations
  std::vector<float> parameters;
  std::vector<std::vector<float>> optimizer;  ///< one list per state slot, 0 for statistics
  std::vector<float> average;                 ///< of the parameters; empty: there is none
};

/// The checkpoints of one model: a folder with epoch-0003.h5 (three complete epochs) and
/// epoch-0003-step-000120.h5 (120 steps into the fourth). Used by one rank, by one thread at a time.
class Checkpoints {
 public:
  /// `recipe`: the resolved recipe, kept in every checkpoint. `kept`: how many, at least 1.
  Checkpoints(std::filesystem::path folder, std::vector<engine::CanonicalParameter> parameters,
              Fingerprint fingerprint, std::string recipe, std::int64_t kept = 2);

  /// Makes the folder if it does not exist, and removes what a job that was killed was writing into it. Only
  /// the job that holds the run may call it. Throws Error naming the folder.
  void make_folder() const;
  const std::filesystem::path& folder() const { return folder_; }

  /// Writes a checkpoint into the folder, atomically, and removes all but the newest. Throws Error naming the
  /// file; earlier checkpoints are untouched then.
  void save(const CheckpointState& state) const;

  /// The newest checkpoint that can be read, or nothing if there is none. Each one that cannot (truncated,
  /// damaged, foreign) is reported to `note` with the reason, and the one before it is tried. Throws Error if
  /// a readable one has another fingerprint, naming the keys that differ.
  std::optional<CheckpointState> newest(const std::function<void(const std::string&)>& note) const;

  /// Throws Error if newest() would because of another fingerprint. Reads nothing else, so that a run can be
  /// refused before anything in its folder is changed.
  void require_resumable() const;

  /// Reads one file. Throws Error as above.
  CheckpointState read(const std::filesystem::path& file) const;

 private:
  std::vector<std::filesystem::path> files() const;  // oldest first
  void require_same_fingerprint(const std::filesystem::path& file, const Fingerprint& stored) const;

  std::filesystem::path folder_;
  std::vector<engine::CanonicalParameter> parameters_;
  Fingerprint fingerprint_;
  std::string recipe_;
  std::size_t kept_;
};

/// A state as bytes and back: how the rank that read a checkpoint tells the others.
std::string to_bytes(const CheckpointState& state);
CheckpointState checkpoint_from_bytes(const std::string& bytes);

}  // namespace convoke::run
