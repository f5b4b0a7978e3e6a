#pragma once
#include <optional>
#include <string>

#include "convoke/run/stopping.hpp"

namespace convoke::run {

/// Returns the seconds of a time in Slurm's format: "1-02:03:04", "02:03:04", "03:04" or "4"; empty for
/// "UNLIMITED", "INVALID" and any other text.
std::optional<double> slurm_seconds(const std::string& text);

/// Returns the seconds until Slurm ends the job of this process. Asks the Slurm controller (squeue), so that
/// the clocks of hosts do not matter; uses SLURM_JOB_END_TIME if the controller does not answer. Empty
/// outside of Slurm, and for a job without a limit.
std::optional<double> slurm_seconds_left();

/// Returns the time point that many seconds from now.
Deadline in_seconds(double seconds);

/// Returns the time at which to stop so that `seconds_before` of the job's time are left; empty if that is 0,
/// or the job has no limit. Throws Error if less than that is left now.
Deadline deadline_before(Deadline job_end, double seconds_before);

}  // namespace convoke::run
