#include "convoke/supervise/launched_job.hpp"

#include <cstdlib>
#include <system_error>
#include <utility>

#include "convoke/run/run_folder.hpp"
#include "convoke/supervise/launch_command.hpp"

namespace convoke::supervise {
namespace {

namespace fs = std::filesystem;

constexpr int kKilled = 137;  // 128 + SIGKILL

// Returns the earliest time if there is no summary, as when a finished run trains on.
fs::file_time_type time_of_summary(const fs::path& run) {
  std::error_code missing;
  return fs::last_write_time(run / "summary.json", missing);
}

}  // namespace

LaunchedJob::LaunchedJob(const std::vector<std::string>& words, fs::path run, const fs::path& log,
                         double patience)
    : run_(std::move(run)),
      patience_(patience),
      summary_before_(time_of_summary(run_)),
      child_(log.empty() ? os::ChildProcess(words) : os::ChildProcess(words, log)),
      is_mpirun_(is_mpirun(words.front())) {}

bool LaunchedJob::has_finished() const {
  const fs::file_time_type now = time_of_summary(run_);
  return now != fs::file_time_type::min() && now != summary_before_ && run::lock_holder(run_).empty();
}

bool LaunchedJob::lost_ranks() {
  if (is_mpirun_ && child_.has_children()) without_ranks_ = {};
  return has_started_ && without_ranks_.seconds() >= patience_ && run::lock_holder(run_).empty();
}

std::optional<int> LaunchedJob::exit_code() {
  if (lingered_) return EXIT_SUCCESS;
  if (has_lost_ranks_) return kKilled;
  if (const std::optional<int> code = child_.exit_code()) return code;
  if (finished_) {
    lingered_ = since_.seconds() >= patience_;
    if (!lingered_) return {};
    child_.end();
    return EXIT_SUCCESS;
  }
  has_started_ = has_started_ || (is_mpirun_ && child_.has_children());  // ranks may fail at once
  if (since_.seconds() >= patience_ / 10) {
    finished_ = has_finished();
    since_ = {};
    has_lost_ranks_ = !finished_ && lost_ranks();
    if (has_lost_ranks_) child_.end(1);
  }
  return {};
}

}  // namespace convoke::supervise
