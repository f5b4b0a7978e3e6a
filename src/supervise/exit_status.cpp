#include "convoke/supervise/exit_status.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstring>

#include "convoke/engine/gradient_verification.hpp"
#include "convoke/run/stopping.hpp"
#include "convoke/supervise/watchdog.hpp"

namespace convoke::supervise {
namespace {

struct Known {
  int code;
  RecoveryAction action;
  const char* reason;
};

constexpr int kSignalled = 128;
constexpr int kHostLost = 205;  // of Open MPI's mpirun, and of src/mpi/session.cpp
constexpr std::array kKnown{
    Known{0, RecoveryAction::kNone, "done"},
    Known{1, RecoveryAction::kCorrect, "an error, see its message"},
    Known{2, RecoveryAction::kCorrect, "a mistake on the command line"},
    Known{run::kExitRequeue, RecoveryAction::kResume, "stopped by a signal, with a checkpoint"},
    Known{kExitStalled, RecoveryAction::kRestart, "ranks waited too long for others"},
    Known{engine::kExitCorrupted, RecoveryAction::kCorrect, "a host computes wrong bits"},
    Known{126, RecoveryAction::kCorrect, "the command is not a program"},
    Known{127, RecoveryAction::kCorrect, "the command does not exist"},
    Known{kSignalled + SIGINT, RecoveryAction::kResume, "ended by Ctrl-C"},
    Known{kSignalled + SIGUSR1, RecoveryAction::kResume, "stopped by SIGUSR1 before training began"},
    Known{kSignalled + SIGHUP, RecoveryAction::kResume,
          "stopped by SIGHUP (a closed terminal) before training began"},
    Known{kSignalled + SIGKILL, RecoveryAction::kRestart,
          "a rank was killed (SIGKILL; is the memory too small?)"},
    Known{kHostLost, RecoveryAction::kRestart, "a host does not answer"},
};

}  // namespace

ExitStatus classify_exit(int code) {
  const auto known = std::ranges::find(kKnown, code, &Known::code);
  if (known != kKnown.end()) return {known->action, known->reason};
  const char* const signal = code > kSignalled ? sigabbrev_np(code - kSignalled) : nullptr;
  return {RecoveryAction::kRestart, signal != nullptr ? fmt::format("a rank was killed (SIG{})", signal)
                                                      : fmt::format("ended with code {}", code)};
}

ExitStatus classify_exit(int code, const std::filesystem::path& run) {
  return classify_exit(code == 1 && has_reported_stall(run) ? kExitStalled : code);
}

}  // namespace convoke::supervise
