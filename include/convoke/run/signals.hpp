#pragma once
#include <array>
#include <csignal>

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

  /// The signal that has come, 0 if none has.
  static int received();

 private:
  static constexpr std::array kSignals{SIGTERM, SIGINT, SIGUSR1};
  std::array<struct sigaction, 3> before_{};
};

}  // namespace convoke::run
