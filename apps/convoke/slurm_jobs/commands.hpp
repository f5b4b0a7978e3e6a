#pragma once
#include <string>
#include <vector>

#include "convoke/slurm/partition.hpp"

// What is asked of the Slurm that is installed.

namespace convoke::app {

/// The partitions that sinfo knows. Throws Error if there is no Slurm here, or it does not answer.
std::vector<slurm::Partition> ask_sinfo();

/// Runs a script that submits jobs; returns what it prints, the jobs' numbers. Throws Error with what Slurm
/// says and what it means, and names the jobs that are in the queue already.
std::string submit(const std::string& script);

}  // namespace convoke::app
