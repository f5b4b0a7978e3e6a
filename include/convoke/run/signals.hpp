#pragma once
#include <array>
#include <csignal>
#include <cstdint>

#include "convoke/mpi/communicator.hpp"
#include "convoke/run/phases.hpp"

namespace convoke::run {

/// The exit code of a job that was told to stop and can be resumed: "requeue me" (EX_TEMPFAIL is 75;
/// schedulers' scripts look for this one).
inline constexpr int kExitRequeue = 85;

/// While it lives, SIGTERM, SIGINT and SIGUSR1 ask this process to stop at a convenient point instead of
/// ending it. A second SIGINT ends it. One of these at a time.
class StopSignals {
 public:
  StopSignals();
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

  /// True once a signal has come.
  static bool requested();

 private:
  static constexpr std::array kSignals{SIGTERM, SIGINT, SIGUSR1};
  std::array<struct sigaction, 3> before_{};
};

/// Lets the ranks of a group stop at the same step without a collective in every step: they agree about once
/// a second, at step numbers that all of them derive from the last agreement.
class StopAgreement {
 public:
  explicit StopAgreement(const mpi::Communicator& group) : group_(group) {}

  /// After each step, on all ranks of the group: true on all of them if one was asked to stop.
  bool after_step();

 private:
  const mpi::Communicator& group_;
  Stopwatch watch_;
  std::int64_t step_ = 0;
  std::int64_t next_ = 1;  // the first step of which the ranks agree
};

}  // namespace convoke::run
