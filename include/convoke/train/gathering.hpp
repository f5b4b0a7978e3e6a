#pragma once
#include <string>
#include <vector>

#include "convoke/run/model_file.hpp"
#include "convoke/train/ensemble.hpp"
#include "convoke/train/job.hpp"

namespace convoke::train {

/// A finished run that trained some members of an ensemble in a job of its own.
struct MemberRun {
  std::string folder;  ///< for messages
  run::ModelSet models;
  std::int64_t epochs_done = 0;
};

/// What two models must have alike to vote together, and have not: "layer 3 is conv2d with filters = 64 in
/// one, with filters = 32 in the other". Empty if there is nothing.
std::string difference(const run::ModelDescription& a, const run::ModelDescription& b);

/// The members of `job` out of the runs that trained them one by one, in order, as train_members would leave
/// them. Throws Error naming the folders if a run is of no ensemble or of another architecture, if a member
/// is there twice or, unless `partial`, is missing.
Training assemble(const Job& job, std::vector<MemberRun> runs, bool partial = false);

}  // namespace convoke::train
