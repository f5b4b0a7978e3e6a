#pragma once
#include <string>
#include <vector>

#include "convoke/slurm/partition.hpp"

// Calls of the commands of Slurm.

namespace convoke::app {

/// The partitions that sinfo lists. Throws Error if Slurm is not installed, or does not answer.
std::vector<slurm::Partition> ask_sinfo();

/// Runs a script that submits jobs, and returns its output, the numbers of the jobs. Throws Error with the
/// message of Slurm and an explanation, and names the jobs that are already in the queue.
std::string submit(const std::string& script);

}  // namespace convoke::app
