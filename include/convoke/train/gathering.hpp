#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "convoke/run/model_file.hpp"
#include "convoke/train/ensemble.hpp"
#include "convoke/train/job.hpp"

namespace convoke::train {

/// A finished run that trained some members of an ensemble in a separate job.
struct MemberRun {
  std::string folder;  ///< for messages
  bool ensemble = false;
  run::ModelDescription description;
  std::vector<TrainedMember> members;  ///< on rank 0 with their parameters, in files without a name
};

/// Reads a finished run, whose summary.json is `summary`. Moves the parameters of its members to files
/// without a name in `scratch`, so that the members of many runs need no memory. `keep`: false on ranks that
/// need no parameters. Throws Error as run::load_models(), or if the disk is full.
MemberRun read_member_run(const std::string& folder, const Settings& summary,
                          const std::filesystem::path& scratch, bool keep);

/// Describes the first difference that keeps two models from voting together: "layer 3 is conv2d with filters
/// = 64 in one, with filters = 32 in the other". Empty if there is none. The preparation of their samples is
/// not compared.
std::string difference(const run::ModelDescription& a, const run::ModelDescription& b);

/// Collects the members of `job` from the runs that trained them one by one, in order, as train_members would
/// return them. Throws Error naming the folders if a run is not part of an ensemble, if a member occurs
/// twice, or if one is missing and `partial` is false. Their models have no difference().
Training assemble(const Job& job, std::vector<MemberRun> runs, bool partial = false);

}  // namespace convoke::train
