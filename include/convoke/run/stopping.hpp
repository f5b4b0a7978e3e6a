#pragma once
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "convoke/mpi/communicator.hpp"
#include "convoke/os/clock.hpp"
#include "convoke/os/stop_signals.hpp"

namespace convoke::run {

/// The exit code of a job that was stopped and can be resumed: "requeue me" (EX_TEMPFAIL is 75; scheduler
/// scripts check for this code).
inline constexpr int kExitRequeue = 85;

/// Why training stops before its end. Stored as a number, so that ranks can agree on the largest.
class StopReason {
 public:
  StopReason() = default;  ///< training does not stop
  static StopReason out_of_time() { return StopReason(1); }
  static StopReason by_signal(int signal) { return StopReason(1 + signal); }
  static StopReason from(std::int64_t number) { return StopReason(number); }

  std::int64_t number() const { return number_; }
  explicit operator bool() const { return number_ != 0; }
  /// "SIGUSR1", "the end of the job's time".
  std::string to_string() const;

 private:
  explicit StopReason(std::int64_t number) : number_(number) {}
  std::int64_t number_ = 0;
};

/// Stops all groups of a job when one of them stops. Groups share no collective while they train, so a rank
/// sends a message ("call") to rank 0, which passes it on to the first rank of each other group. These ranks
/// check for messages whenever their group agrees (StopAgreement). A job of n groups sends at most 2 (n - 1)
/// messages, and one more for each rank that gets a signal after it has finished training.
class StopCalls {
 public:
  /// `world`: all ranks; `group`: the ranks that train together with this one. Collective over `world`.
  /// `attend`: what this rank does for other groups whenever it has time: after each of its steps, and while
  /// it waits for all.
  StopCalls(const mpi::Communicator& world, const mpi::Communicator& group,
            std::function<void()> attend = {});

  /// Rank 0 also passes a call on.
  void attend();

  /// Calls all groups, unless this rank knows of an earlier call.
  void call(StopReason reason);

  /// The reason of the calls to this rank; empty on ranks that get none.
  StopReason heard();

  /// For a rank that has finished training: sleeps until all ranks have finished. Passes on a signal that
  /// arrives meanwhile to the groups that still train. Afterwards no message is in transit. Collective over
  /// `world`.
  void wait_for_all();

 private:
  void send(std::int64_t reason);

  mpi::Communicator world_;     // only for these messages
  bool listens_;                // this rank is the first of its group, or rank 0
  std::vector<int> receivers_;  // of its call: rank 0; at rank 0 the first ranks of the other groups
  std::int64_t called_ = 0;     // the reason as a number; 0: this rank has not called, or passed a call on
  std::int64_t heard_ = 0;      // reason of the received calls as a number; 0: none
  std::int64_t messages_ = 0;   // number of received messages
  std::vector<mpi::Request> sent_;
  std::function<void()> attend_;
};

/// The time at which training stops; empty: no limit.
using Deadline = std::optional<std::chrono::steady_clock::time_point>;

/// Lets the ranks of a group stop at the same step without a collective in every step: they agree about once
/// a second, or every 32 steps if these take less, at step numbers that all of them derive from the last
/// agreement. A group stops for a signal (os::StopSignals), after its deadline, or because another group
/// stops (StopCalls).
class StopAgreement {
 public:
  /// The arguments must outlive it.
  StopAgreement(const mpi::Communicator& group, Deadline deadline, StopCalls& calls)
      : group_(group), deadline_(deadline), calls_(calls) {}

  /// The next steps may take longer than those before (an epoch that trains more of the network): the ranks
  /// agree after the first. Call it on all ranks of the group.
  void begin_epoch() { expect_pace(1); }
  /// Call it after each step on all ranks of the group. Returns agree() about once a second, otherwise
  /// nothing. `alarm`: this rank has found something that all ranks must look at.
  StopReason after_step(bool alarm = false);
  /// True if the last after_step() was an agreement in which a rank gave an alarm: the same on all ranks.
  bool alarmed() const { return alarmed_; }

  /// Returns on all ranks of the group the reason if any of them wants to stop, and then calls the other
  /// groups. Collective over the group.
  StopReason agree();

  /// True if this rank wants to stop. For long work outside of steps: the ranks leave it early and then
  /// agree().
  bool wanted() { return bool(mine()); }

 private:
  void expect_pace(std::int64_t interval);
  StopReason mine();
  StopReason pass_on(StopReason reason);

  const mpi::Communicator& group_;
  Deadline deadline_;
  StopCalls& calls_;
  os::Stopwatch watch_;        // since the last agreement
  std::int64_t steps_ = 0;     // since then
  std::int64_t interval_ = 1;  // steps until the next agreement
  bool alarmed_ = false;
};

/// Returns the seconds of a time in Slurm's format: "1-02:03:04", "02:03:04", "03:04" or "4"; empty for
/// "UNLIMITED", "INVALID" and any other text.
std::optional<double> slurm_seconds(const std::string& text);

/// Returns the seconds until Slurm ends the job of this process. Asks the Slurm controller (squeue), so that
/// the clocks of hosts do not matter; uses SLURM_JOB_END_TIME if the controller does not answer. Empty
/// outside of Slurm, and for a job without a limit.
std::optional<double> slurm_seconds_left();

/// Returns the time point that many seconds from now.
Deadline in_seconds(double seconds);

/// Returns the time at which to stop so that `seconds_before` of the job's time are left; empty if that is 0,
/// or the job has no limit. Throws Error if less than that is left now.
Deadline deadline_before(Deadline job_end, double seconds_before);

}  // namespace convoke::run
