#pragma once
#include <cstdint>
#include <filesystem>
#include <limits>
#include <vector>

#include "convoke/data/dataset.hpp"
#include "convoke/doctor/finding.hpp"
#include "convoke/mpi/communicator.hpp"
#include "convoke/train/ensemble.hpp"
#include "convoke/train/groups.hpp"
#include "convoke/train/job.hpp"

namespace convoke::doctor {

/// The job whose demands on the machine the doctor checks, with its samples and groups of ranks.
struct Demand {
  const train::Job& job;
  const train::DataLoaders& loaders;  ///< of an open dataset, whose samples need not be in memory
  const train::Groups& groups;
  std::filesystem::path dataset = {};
  data::StoredLayout layout = {};  ///< of the training split
  bool streamed = false;           ///< the samples exceed data.memory
  bool shuffles_all = false;       ///< every sample is read separately

  /// Bytes of samples that the ranks of a node share.
  std::uint64_t window_bytes() const { return streamed ? 0 : layout.bytes; }
};

/// Bytes that a rank sums with others in every step; 0 if it does not.
std::uint64_t exchanged_bytes(const train::Job& job, int ranks);

/// Finds worker threads that have no micro-batch in a step, or fewer than others, and a setting that gives
/// all of them as many. `samples`: of an epoch, at most. Pure.
std::vector<Finding> check_micro_batches(const train::Job& job, int ranks,
                                         std::int64_t samples = std::numeric_limits<std::int64_t>::max());

/// Finds slow ways to read the samples of a dataset. Pure.
std::vector<Finding> check_dataset(const data::StoredLayout& layout, const std::filesystem::path& dataset,
                                   bool streamed, bool shuffles_all);

/// Compares the free memory of each host with the prediction for training (train::require_trainable).
/// Collective.
std::vector<Finding> examine_memory(const Demand& demand, const mpi::Communicator& world);

}  // namespace convoke::doctor
