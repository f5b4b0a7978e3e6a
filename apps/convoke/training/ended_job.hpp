#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace convoke::app {

/// Returns the folders of a run's checkpoints: its own, and that of run.checkpoint_fallback.
std::vector<std::filesystem::path> checkpoint_folders(const std::filesystem::path& run);

/// Returns the steps of the newest checkpoint of a run, in its folder or that of run.checkpoint_fallback.
std::int64_t steps_reached(const std::filesystem::path& run);

/// Returns after that time, when `over` returns true, or after a signal that os::StopSignals has caught.
void wait_unless(double seconds, const std::function<bool()>& over);

/// Decides for a batch script, whose command ended with `code`, whether its Slurm job (SLURM_JOB_ID) returns
/// to the queue. The earlier attempts of the job stand in restarts.log of the run folder, which is created if
/// there is none. Prints the reason. Returns 0, after the wait before a restart, or `code`, also if the
/// restart cannot be noted there.
int decide_requeue(const std::filesystem::path& run, int code, int restarts, const std::string& backoff);

}  // namespace convoke::app
