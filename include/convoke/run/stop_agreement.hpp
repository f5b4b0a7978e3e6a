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

/// When to stop by itself; nothing: not at all.
using Deadline = std::optional<std::chrono::steady_clock::time_point>;

/// Lets the ranks of a group stop at the same step without a collective in every step: they agree about once
/// a second, at step numbers that all of them derive from the last agreement. One stops for a signal
/// (os::StopSignals), because its deadline is over, or because another group does (StopCalls).
class StopAgreement {
 public:
  /// What is given must outlive it.
  StopAgreement(const mpi::Communicator& group, Deadline deadline, StopCalls& calls)
      : group_(group), deadline_(deadline), calls_(calls) {}

  /// After each step, on all ranks of the group: the reason, on all of them, if one of them is to stop. Calls
  /// the other groups then.
  StopReason after_step();

 private:
  StopReason mine();

  const mpi::Communicator& group_;
  Deadline deadline_;
  StopCalls& calls_;
  os::Stopwatch watch_;
  std::int64_t step_ = 0;
  std::int64_t next_ = 1;  // the first step of which the ranks agree
};

}  // namespace convoke::run
