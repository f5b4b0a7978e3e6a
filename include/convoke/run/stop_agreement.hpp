#pragma once
#include <chrono>
#include <cstdint>
#include <optional>

#include "convoke/mpi/communicator.hpp"
#include "convoke/os/clock.hpp"
#include "convoke/os/stop_signals.hpp"
#include "convoke/run/stop_calls.hpp"
#include "convoke/run/stop_reason.hpp"

namespace convoke::run {

/// The time at which training stops; empty: no limit.
using Deadline = std::optional<std::chrono::steady_clock::time_point>;

/// Lets the ranks of a group stop at the same step without a collective in every step: they agree about once
/// a second, at step numbers that all of them derive from the last agreement. A group stops for a signal
/// (os::StopSignals), after its deadline, or because another group stops (StopCalls).
class StopAgreement {
 public:
  /// The arguments must outlive it.
  StopAgreement(const mpi::Communicator& group, Deadline deadline, StopCalls& calls)
      : group_(group), deadline_(deadline), calls_(calls) {}

  /// Call it after each step on all ranks of the group. Returns on all of them the reason if any rank wants
  /// to stop, and then calls the other groups.
  StopReason after_step();

 private:
  StopReason mine();

  const mpi::Communicator& group_;
  Deadline deadline_;
  StopCalls& calls_;
  os::Stopwatch watch_;
  std::int64_t step_ = 0;
  std::int64_t next_ = 1;  // the step of the next agreement
};

}  // namespace convoke::run
