#include "training/ended_job.hpp"

#include <fmt/format.h>

#include <chrono>
#include <csignal>
#include <system_error>
#include <thread>

#include "convoke/core/error.hpp"
#include "convoke/os/clock.hpp"
#include "convoke/os/environment.hpp"
#include "convoke/os/stop_signals.hpp"
#include "convoke/recipe/recipe.hpp"
#include "convoke/run/checkpoint.hpp"
#include "convoke/run/checkpoint_interval.hpp"
#include "convoke/run/stopping.hpp"
#include "convoke/supervise/exit_status.hpp"
#include "convoke/supervise/supervision.hpp"

namespace convoke::app {
namespace {

// In a job, a stop with a checkpoint is the end of its time, after which it goes on in the queue.
supervise::Attempt attempt_of_job(int code, const std::filesystem::path& run) {
  const supervise::ExitStatus status = supervise::classify_exit(code, run);
  supervise::Attempt attempt{.code = code, .reason = status.reason, .steps = steps_reached(run)};
  attempt.asked = code == run::kExitRequeue;
  attempt.curable = attempt.asked || status.action == supervise::RecoveryAction::kRestart;
  if (code == 128 + SIGUSR1)
    attempt.reason =
        "the warning came before training began: the time limit is too short (--time, --warning)";
  return attempt;
}

}  // namespace

std::vector<std::filesystem::path> checkpoint_folders(const std::filesystem::path& run) {
  std::vector<std::filesystem::path> folders{run / "checkpoints"};
  try {
    const recipe::Recipe recipe = recipe::Recipe::load((run / "recipe.toml").string(), {});
    const std::string& fallback = recipe.run.checkpoints.fallback;
    if (!fallback.empty()) folders.push_back(run::fallback_of(fallback, run, folders.front()));
  } catch (const Error&) {  // the run has not begun, or its recipe is wrong, which it says itself
  }
  return folders;
}

std::int64_t steps_reached(const std::filesystem::path& run) {
  return run::steps_saved(checkpoint_folders(run));
}

// Returns after that time, when `over` returns true, or after a signal.
void wait_unless(double seconds, const std::function<bool()>& over) {
  const os::Stopwatch watch;
  while (watch.seconds() < seconds && os::StopSignals::received() == 0 && !over()) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

int decide_requeue(const std::filesystem::path& run, int code, int restarts, const std::string& backoff) {
  const os::StopSignals signals;
  const std::string job = os::variable("SLURM_JOB_ID").value_or("-");
  supervise::Supervision supervision(restarts, run::seconds_from(backoff), 0);
  for (const supervise::Attempt& earlier : supervise::restarts_of(run, job)) supervision.after(earlier);
  const supervise::Attempt attempt = attempt_of_job(code, run);
  const supervise::Supervision::Decision next = supervision.after(attempt);
  if (!next.again) {
    fmt::print("{}\n", next.why_not == attempt.reason
                           ? attempt.reason
                           : fmt::format("{}; not started again: {}", attempt.reason, next.why_not));
    return code;
  }
  wait_unless(next.wait_seconds, [] { return false; });
  if (os::StopSignals::received() != 0) return code;
  std::error_code failed;  // a rank that is killed before training begins leaves no folder
  std::filesystem::create_directories(run, failed);
  if (!supervise::append_restart(run, attempt, job)) {
    fmt::print("{}; not started again: {} cannot be written\n", attempt.reason,
               (run / "restarts.log").string());
    return code;
  }
  fmt::print("{}\n", attempt.reason);
  return EXIT_SUCCESS;
}

}  // namespace convoke::app
