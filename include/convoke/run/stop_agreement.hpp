#pragma once
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "convoke/mpi/communicator.hpp"
#include "convoke/run/phases.hpp"

namespace convoke::run {

/// Why training stops before its end. A number, so that ranks can agree on the largest.
class StopReason {
 public:
  StopReason() = default;  ///< it does not
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

/// When to stop by itself; nothing: not at all.
using Deadline = std::optional<std::chrono::steady_clock::time_point>;

/// Lets the ranks of a group stop at the same step without a collective in every step: they agree about once
/// a second, at step numbers that all of them derive from the last agreement. One stops for a signal
/// (StopSignals), or because its deadline is over.
class StopAgreement {
 public:
  StopAgreement(const mpi::Communicator& group, Deadline deadline) : group_(group), deadline_(deadline) {}

  /// After each step, on all ranks of the group: the reason, on all of them, if one of them is to stop.
  StopReason after_step();

 private:
  StopReason mine() const;

  const mpi::Communicator& group_;
  Deadline deadline_;
  Stopwatch watch_;
  std::int64_t step_ = 0;
  std::int64_t next_ = 1;  // the first step of which the ranks agree
};

}  // namespace convoke::run
