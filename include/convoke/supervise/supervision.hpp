#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace convoke::supervise {

/// One start of a supervised command.
struct Attempt {
  int code = 0;
  std::string reason;      ///< why it ended
  bool curable = false;    ///< the same command, started again, may go on
  bool asked = false;      ///< it was asked to stop, as at the end of a job's time, so it costs no restart
  int ranks = 0;           ///< 0: not stated
  std::int64_t steps = 0;  ///< of the newest checkpoint afterwards
  double seconds = 0;
};

/// Decides whether a command that ends abnormally is started again. Plain values: no process, no clock.
class Supervision {
 public:
  /// `restarts`: how many at most. `backoff_seconds`: the wait before the first; each further wait is twice
  /// as long, up to 10 minutes, and after progress the first wait applies again. `steps`: of the newest
  /// checkpoint before the first attempt.
  Supervision(int restarts, double backoff_seconds, std::int64_t steps);

  struct Decision {
    bool again = false;
    double wait_seconds = 0;
    std::string why_not;  ///< empty if `again`
  };
  /// Takes the next attempt. It is repeated if it is curable, restarts are left, and not both of the last two
  /// restarts ended without a newer checkpoint. An attempt that was asked to stop needs a newer checkpoint,
  /// and neither wait nor restart.
  Decision after(Attempt attempt);

  const std::vector<Attempt>& attempts() const { return attempts_; }
  /// Returns a table of the attempts: exit code, ranks, step reached, time, reason.
  std::string table() const;

 private:
  int restarts_;
  double backoff_;
  std::int64_t steps_;
  int used_ = 0;  ///< restarts so far
  int idle_ = 0;  ///< the last attempts without progress
  std::vector<Attempt> attempts_;
};

// restarts.log of a run folder: a line for each restart, such as
// "job 88: exit code 137 at step 4690: a rank was killed". A line without a job belongs to a supervisor that
// runs as long as the run.

/// Appends a line about an attempt that is started again. `job`: the number of a Slurm job, or empty. Returns
/// false if the line could not be written: the folder may not exist yet, or not be writable.
bool append_restart(const std::filesystem::path& run, const Attempt& attempt, const std::string& job = {});

/// Returns the attempts in this log that belong to a Slurm job, in order. Other lines are skipped.
std::vector<Attempt> restarts_of(const std::filesystem::path& run, const std::string& job);

}  // namespace convoke::supervise
