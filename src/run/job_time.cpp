#include "convoke/run/job_time.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

#include "convoke/core/error.hpp"
#include "convoke/core/pattern.hpp"
#include "convoke/os/clock.hpp"
#include "convoke/os/environment.hpp"
#include "convoke/os/process.hpp"

namespace convoke::run {
namespace {

// Returns the number of the job of this process, as squeue takes it; empty outside of Slurm. SLURM_JOB_ID of
// an array's last job is the number of the whole array. (A job that another array's job submitted inherits
// the variables of that array.)
std::string job_number() {
  const std::optional<std::int64_t> job = os::number_in("SLURM_JOB_ID");
  const std::optional<std::int64_t> array = os::number_in("SLURM_ARRAY_JOB_ID");
  const std::optional<std::int64_t> task = os::number_in("SLURM_ARRAY_TASK_ID");
  if (job && array == job && task) return fmt::format("{}_{}", *array, *task);
  return job ? fmt::to_string(*job) : "";
}

// Returns the remaining time of a job from the controller, "1-02:03:04"; empty if it does not answer within
// 10 seconds (squeue would retry for minutes).
std::string time_left_by_squeue(const std::string& job) {
  std::string left =
      os::run({"squeue", "--noheader", "--jobs=" + job, "--format=%L"}, {.errors = false, .seconds = 10})
          .output;
  left.resize(std::min(left.find('\n'), left.size()));
  left.erase(left.find_last_not_of(' ') + 1);
  return left;
}

}  // namespace

std::optional<double> slurm_seconds(const std::string& text) {
  static const Pattern kTime(R"((?:(\d+)-)?(?:(?:(\d+):)?(\d+):)?(\d+))");
  const Match parts = whole_match(text, kTime);
  if (parts.empty()) return std::nullopt;
  const auto part = [&](std::size_t i) { return parts[i].empty() ? 0.0 : std::stod(parts[i]); };
  return ((part(1) * 24 + part(2)) * 60 + part(3)) * 60 + part(4);
}

std::optional<double> slurm_seconds_left() {
  const std::string job = job_number();
  if (job.empty()) return std::nullopt;
  if (const std::string left = time_left_by_squeue(job); !left.empty()) return slurm_seconds(left);
  const std::optional<std::int64_t> end = os::number_in("SLURM_JOB_END_TIME");
  if (!end) return std::nullopt;
  return static_cast<double>(*end) - os::seconds_since_1970();
}

Deadline in_seconds(double seconds) {
  using Clock = std::chrono::steady_clock;
  return Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
}

Deadline deadline_before(Deadline job_end, double seconds_before) {
  if (seconds_before <= 0 || !job_end) return std::nullopt;
  const double left = std::chrono::duration<double>(*job_end - std::chrono::steady_clock::now()).count();
  if (left > seconds_before) return in_seconds(left - seconds_before);
  throw Error(
      fmt::format("this job ends in {:.0f} s, but run.stop_before reserves the last {:.0f} s: no time "
                  "is left to train",
                  left, seconds_before),
      "ask for more time (sbatch --time=HH:MM:SS), or lower run.stop_before");
}

}  // namespace convoke::run
