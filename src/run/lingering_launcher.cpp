#include "convoke/run/lingering_launcher.hpp"

#include <system_error>
#include <utility>

#include "convoke/run/run_lock.hpp"

namespace convoke::run {
namespace {

namespace fs = std::filesystem;

// Returns the earliest time if there is no summary.
fs::file_time_type time_of_summary(const fs::path& run) {
  std::error_code missing;
  return fs::last_write_time(run / "summary.json", missing);
}

}  // namespace

LingeringLauncher::LingeringLauncher(fs::path run, double patience)
    : run_(std::move(run)), patience_(patience), summary_before_(time_of_summary(run_)) {}

bool LingeringLauncher::has_finished() const {
  return time_of_summary(run_) != summary_before_ && lock_holder(run_).empty();
}

bool LingeringLauncher::lingers() {
  if (finished_) return since_.seconds() >= patience_;
  if (since_.seconds() < patience_ / 10) return false;
  finished_ = has_finished();
  since_ = {};
  return false;
}

}  // namespace convoke::run
