#pragma once
#include <filesystem>
#include <string>

namespace convoke::supervise {

/// The ways to go on after the end of a training command.
enum class RecoveryAction {
  kNone,     ///< it is done
  kRestart,  ///< the machine failed, not the command: the same command continues from the last checkpoint
  kResume,   ///< somebody asked it to stop; --resume continues it
  kCorrect,  ///< it would fail again: the user has to correct something
};

struct ExitStatus {
  RecoveryAction action;
  std::string reason;  ///< "killed by SIGKILL", without a full stop
};

/// Classifies the exit code of `convoke train` or of the launcher of its ranks; docs/training.md has the
/// table. A code of 128 + n is the end by signal n.
ExitStatus classify_exit(int code);

/// The same for the newest job of `run`. If its ranks have reported a stall, code 1 means kExitStalled: the
/// mpirun of Open MPI 4 ends with 1 if a rank ended before MPI_Finalize.
ExitStatus classify_exit(int code, const std::filesystem::path& run);

}  // namespace convoke::supervise
