#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "convoke/supervise/supervision.hpp"

namespace convoke::supervise {

/// restarts.log of a run folder: a line for each restart, such as
/// "job 88: exit code 137 at step 4690: a rank was killed". A line without a job belongs to a supervisor that
/// runs as long as the run.

/// Appends a line about an attempt that is started again. `job`: the number of a Slurm job, or empty. Returns
/// false if the line could not be written: the folder may not exist yet, or not be writable.
bool append_restart(const std::filesystem::path& run, const Attempt& attempt, const std::string& job = {});

/// Returns the attempts in this log that belong to a Slurm job, in order. Other lines are skipped.
std::vector<Attempt> restarts_of(const std::filesystem::path& run, const std::string& job);

}  // namespace convoke::supervise
