#pragma once
#include <string>
#include <vector>

#include "convoke/run/model_file.hpp"
#include "convoke/train/ensemble.hpp"
#include "convoke/train/job.hpp"

namespace convoke::train {

/// A finished run that trained some members of an ensemble in a separate job.
struct MemberRun {
  std::string folder;  ///< for messages
  run::ModelSet models;
  std::int64_t epochs_done = 0;
};

/// Describes the first difference that keeps two models from voting together: "layer 3 is conv2d with filters
/// = 64 in one, with filters = 32 in the other". Empty if there is none.
std::string difference(const run::ModelDescription& a, const run::ModelDescription& b);

/// Collects the members of `job` from the runs that trained them one by one, in order, as train_members would
/// return them. Throws Error naming the folders if a run is not part of an ensemble or has another
/// architecture, if a member occurs twice, or if one is missing and `partial` is false.
Training assemble(const Job& job, std::vector<MemberRun> runs, bool partial = false);

}  // namespace convoke::train
