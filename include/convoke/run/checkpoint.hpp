#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "convoke/engine/canonical.hpp"
#include "convoke/hdf5/file.hpp"
#include "convoke/optim/schedule.hpp"
#include "convoke/run/best_models.hpp"

namespace convoke::run {

/// The resume fingerprint: the recipe values that decide the result of a run, as "key" = "value" in the
/// recipe's words. A checkpoint can be resumed only if all of them are equal.
using Fingerprint = std::vector<std::pair<std::string, std::string>>;

/// The complete state of a training loop. All arrays are canonical, so a run can resume on other ranks,
/// threads and machines.
struct CheckpointState {
  std::int64_t epochs_done = 0;         ///< complete epochs
  std::int64_t steps_done = 0;          ///< steps of the current epoch
  std::int64_t updates = 0;             ///< steps since the start
  std::int64_t restores = 0;            ///< how often training diverged and went back to a checkpoint
  double best_validation_accuracy = 0;  ///< 0 if there is no validation
  double validation_accuracy =
      std::numeric_limits<double>::quiet_NaN();  ///< of the last validation; NaN: none
  double loss_sum = 0;                           ///< over the samples of the current epoch
  double correct_sum = 0;
  optim::Feedback feedback;  ///< state of the schedule
  BestSoFar best;            ///< state of early stopping
  std::vector<float> parameters;
  std::vector<std::vector<float>> optimizer;  ///< one array per state slot; statistics are 0
  std::vector<float> average;                 ///< average of the parameters; empty: none
  std::vector<float> change;                  ///< see engine::Replica::change; empty: none
  /// The state slots of ranks 1, 2, ... of the group, if each rank keeps its own (sync::StateRule).
  std::vector<std::vector<float>> other_optimizers;
};

/// Returns the folder for the checkpoints in `folder`, a part of the run folder `run`, while that cannot be
/// written: FALLBACK/NAME-1a2b3c4d/checkpoints..., where the digits follow from the path of the run without
/// symbolic links, so that runs of one name do not collide. Empty if `fallback` is empty.
std::filesystem::path fallback_of(const std::filesystem::path& fallback, const std::filesystem::path& run,
                                  const std::filesystem::path& folder);

/// The checkpoints of one model: a folder with epoch-0003.h5 (three complete epochs) and
/// epoch-0003-step-000120.h5 (120 steps into the fourth). Used by one rank, by one thread at a time.
class Checkpoints {
 public:
  using Note = std::function<void(const std::string&)>;

  /// `recipe`: the resolved recipe, stored in every checkpoint. `kept`: number of checkpoints to keep, at
  /// least 1. `fallback`: a second folder, which may hold newer checkpoints than the first; empty: none.
  Checkpoints(std::filesystem::path folder, std::vector<engine::CanonicalParameter> parameters,
              Fingerprint fingerprint, std::string recipe, std::int64_t kept = 2,
              std::filesystem::path fallback = {});

  /// Creates the folder if it does not exist, and removes partial files of a killed job. Only the job that
  /// holds the run's lock may call it. Throws Error naming the folder.
  void make_folder() const;
  const std::filesystem::path& folder() const { return folder_; }
  const std::filesystem::path& fallback() const { return fallback_; }

  /// Writes a checkpoint into the folder, atomically, and removes all except the newest ones up to it: those
  /// in the fallback folder, which are older, and later ones, which are damaged, too. Throws Error naming the
  /// file; the other checkpoints are unchanged then.
  void save(const CheckpointState& state) const;
  /// Writes it into the fallback folder instead, which is created if it does not exist. The folder of the run
  /// is unchanged.
  void save_in_fallback(const CheckpointState& state) const;

  /// Returns the newest readable checkpoint of both folders; empty if there is no file. An unreadable one
  /// (truncated, damaged, foreign) is reported to `note` with the reason, and the one before it is tried.
  /// Throws Error if none can be read, naming the keys that differ if a readable one has a different
  /// fingerprint, and for one of a newer format.
  std::optional<CheckpointState> newest(const Note& note) const;
  /// The bytes of its file, which the rank that reads it sends to the others; empty if there is no file.
  std::string newest_bytes(const Note& note) const;

  /// The newest file of both folders, whether readable or not; empty if there is none.
  std::filesystem::path newest_file() const;

  /// Throws Error if newest() would because of a different fingerprint. Reads only the fingerprint, so that a
  /// run can be refused before its folder changes.
  void require_resumable() const;

  /// Reads one file, or its bytes. Throws Error as above.
  CheckpointState read(const std::filesystem::path& file) const;
  CheckpointState from_bytes(const std::string& bytes) const;

 private:
  struct Stored {
    std::filesystem::path file;
    CheckpointState state;
  };
  std::optional<Stored> newest_stored(const Note& note) const;
  CheckpointState read(const hdf5::File& file, const std::filesystem::path& path) const;
  std::vector<std::filesystem::path> files() const;  // of both folders, oldest first
  void write(const std::filesystem::path& folder, const CheckpointState& state) const;
  void require_same_fingerprint(const std::filesystem::path& file, const Fingerprint& stored) const;

  std::filesystem::path folder_;
  std::vector<engine::CanonicalParameter> parameters_;
  Fingerprint fingerprint_;
  std::string recipe_;
  std::size_t kept_;
  std::filesystem::path fallback_;
};

/// Returns the steps that the newest readable checkpoint in `folders` (of the run, and its fallback) has
/// made. For an ensemble, whose members have folders member-000, ... in them, the sum over the members. 0 if
/// there is none. Any process may call it during the run.
std::int64_t steps_saved(const std::vector<std::filesystem::path>& folders);

/// Returns the whole epochs that the newest readable checkpoint in `folders` has made; for an ensemble, the
/// most of its members. 0 if there is none.
std::int64_t epochs_saved(const std::vector<std::filesystem::path>& folders);

/// Returns the fingerprint of the newest readable checkpoint in `folders` (of the run, and its fallback), or
/// of the first member that has one; empty if there is none.
Fingerprint saved_fingerprint(const std::vector<std::filesystem::path>& folders);

}  // namespace convoke::run
