#pragma once
#include <cstdint>
#include <filesystem>
#include <mutex>
#include <optional>
#include <string>

#include "convoke/run/checkpoint.hpp"

namespace convoke::train {

/// Writes checkpoints into the run folder, and into the fallback folder of the job while that fails. A
/// failure is kept as a message instead of an exception, because training goes on. One thread writes, another
/// one asks.
class CheckpointStorage {
 public:
  explicit CheckpointStorage(run::Checkpoints checkpoints) : checkpoints_(std::move(checkpoints)) {}

  const run::Checkpoints& checkpoints() const { return checkpoints_; }

  /// Writes a state. Throws nothing: see news() and lost().
  void save(const run::CheckpointState& state);

  /// Counts since the start of this object.
  struct Counts {
    std::int64_t failed = 0;       ///< checkpoints that the run folder did not take
    std::int64_t in_fallback = 0;  ///< of these, those that are in the fallback folder
    std::int64_t lost() const { return failed - in_fallback; }
  };
  Counts counts() const;
  /// True if the newest state is in neither folder.
  bool lost() const;
  /// The reason of the newest failure.
  std::string failure() const;
  /// Returns a message when writing into the run folder begins to fail, when the fallback folder begins to
  /// fail too, and when it works again; otherwise nothing.
  std::optional<std::string> news();

 private:
  enum class State { kWorks, kInFallback, kLost };
  void note(State state, std::string message);

  const run::Checkpoints checkpoints_;
  mutable std::mutex mutex_;
  Counts counts_;
  State state_ = State::kWorks;
  std::string failure_;
  std::optional<std::string> news_;
};

}  // namespace convoke::train
