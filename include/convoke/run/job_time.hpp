#pragma once
#include <optional>
#include <string>

#include "convoke/run/stop_agreement.hpp"

namespace convoke::run {

/// Seconds of a time as Slurm writes it: "1-02:03:04", "02:03:04", "03:04" or "4"; nothing for "UNLIMITED",
/// "INVALID" and whatever else is no time.
std::optional<double> slurm_seconds(const std::string& text);

/// Seconds until Slurm ends the job that this process is part of: as its controller counts them (squeue), so
/// that clocks of hosts do not matter; where it cannot be asked, by SLURM_JOB_END_TIME. Nothing outside of
/// Slurm, and for a job without a limit.
std::optional<double> slurm_seconds_left();

/// That many seconds from now.
Deadline in_seconds(double seconds);

/// When to stop so that `seconds_before` are left of a job's time; nothing if that is 0, or the job has no
/// end. Throws Error if they are not left even now.
Deadline deadline_before(Deadline job_end, double seconds_before);

}  // namespace convoke::run
