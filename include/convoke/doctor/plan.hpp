#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "convoke/data/stored_layout.hpp"
#include "convoke/doctor/finding.hpp"
#include "convoke/mpi/communicator.hpp"
#include "convoke/train/ensemble.hpp"
#include "convoke/train/groups.hpp"
#include "convoke/train/job.hpp"

namespace convoke::doctor {

/// What a recipe asks of the machine.
struct Plan {
  const train::Job& job;
  const train::Feed& feed;  ///< of a dataset that was opened for its labels: samples need not be in memory
  const train::Groups& groups;
  std::filesystem::path dataset = {};
  data::StoredLayout layout = {};  ///< of the training split
  bool streamed = false;           ///< samples are more than data.memory allows
  bool shuffles_all = false;       ///< every sample is read from a place of its own

  /// Bytes of samples that the ranks of a node share.
  std::uint64_t window_bytes() const { return streamed ? 0 : layout.bytes; }
};

/// What a rank sums with others in every step, in bytes; 0 if it does not.
std::uint64_t exchanged_bytes(const train::Job& job, int ranks);

/// Threads for which a step has no lane. Pure.
std::vector<Finding> judge_lanes(const train::Job& job, int ranks);

/// Where samples come from: memory, or files that are read as they are wanted. Pure.
std::vector<Finding> judge_dataset(const data::StoredLayout& layout, const std::filesystem::path& dataset,
                                   bool streamed, bool shuffles_all);

/// Memory per rank and node against what training takes (train::require_trainable), as a finding. Collective.
std::vector<Finding> examine_memory(const Plan& plan, const mpi::Communicator& world);

}  // namespace convoke::doctor
