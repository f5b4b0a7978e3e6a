#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "convoke/sync/bucket.hpp"
#include "convoke/sync/strategy.hpp"

namespace convoke::study {

/// Strong scaling: the ranks share the step of one rank. Weak scaling: each rank has as much work as that
/// one.
enum class Scaling { kStrong, kWeak };

/// Models that ranks average instead of gradients that they sum: see engine::ModelAverage.
struct Averaging {
  std::int64_t every = 0;  ///< steps; 0: not within an epoch
  std::size_t floats = 0;  ///< of each sum
  std::size_t sums = 0;    ///< one after another
};

/// Times of a step on one rank, measured without any exchange, and what the ranks exchange in it.
struct StepProfile {
  struct Compute {
    std::int64_t micro_batches = 0;  ///< micro-batches of this rank
    double seconds = 0;              ///< loading, forward and backward
    double scatter = 0;              ///< over the measured rounds: (slowest - fastest) / median
  };
  /// A report of the backward pass: how many elements of the gradients are complete.
  struct Report {
    std::size_t elements = 0;
    double seconds_before_end = 0;  ///< of the computation
  };
  std::int64_t micro_batches = 0;  ///< of a step of one rank
  std::int64_t batch = 0;          ///< samples of it
  std::vector<Compute> compute = {};
  std::vector<Report> backward = {};  ///< of the last plan that a rank runs in a step
  double update_seconds = 0;          ///< the optimizer, by one rank

  sync::ExchangeShape sums = {};  ///< that the ranks sum
  sync::ExchangeOptions options = {};
  bool shares_memory = true;                ///< the ranks of a node have one model
  std::optional<Averaging> averaging = {};  ///< instead of sums in every step
  double add_seconds_per_byte = 0;   ///< adding the gradients of another rank of the node to the own ones
  double copy_seconds_per_byte = 0;  ///< of a bucket to or from the memory for its messages

  /// The largest scatter in `compute`.
  double scatter() const;
};

/// Returns the profile of cores that compute `speed` times as fast. The exchange takes as much time of a
/// core as before, because memory and the system decide it.
StepProfile at_speed(StepProfile profile, double speed);

/// Returns the micro-batches of the busiest rank: ceil(micro_batches / ranks), or all micro-batches in weak
/// scaling.
std::int64_t busiest_micro_batches(std::int64_t micro_batches, int ranks, Scaling scaling);

/// Returns the micro-batch counts that a profile needs for these numbers of ranks and for one rank;
/// ascending.
std::vector<std::int64_t> needed_micro_batches(std::int64_t micro_batches, std::span<const int> ranks,
                                               Scaling scaling);

/// Returns after how many steps of `epoch` (from 0) the ranks average their models for the first time; 0: not
/// within the first million steps.
std::int64_t steps_to_average(const sync::Strategy& strategy, std::int64_t epoch);

/// A message from one rank to another arrives after latency + bytes / bytes_per_second.
struct LinkSpeed {
  double latency_seconds = 0;
  double bytes_per_second = 0;
  /// The time of the receiving rank's core, which computation cannot hide: for each byte, and for each
  /// message (the sender's part included). Almost nothing with RDMA.
  double core_seconds_per_byte = 0;
  double core_seconds_per_message = 0;
};

/// The placement of the ranks: `ranks_per_node` neighbors on each node. They share the link of their node,
/// which sends and receives at the same time.
struct Cluster {
  int ranks_per_node = 1;
  LinkSpeed link = {};  ///< between nodes
  /// Within a node, between ranks that share no memory: their messages keep both cores busy.
  LinkSpeed within = {1e-6, 5e9, 0, 0};

  /// Returns the number of nodes that so many ranks need.
  int nodes_for(int ranks) const { return (ranks + ranks_per_node - 1) / ranks_per_node; }
};

/// A step on several ranks: the mean over the steps from one exchange to the next.
struct StepPrediction {
  int ranks = 1;
  std::int64_t micro_batches = 0;  ///< of the busiest rank
  double compute_seconds = 0;      ///< with this rank's part of the update
  double summing_seconds = 0;      ///< core time for copying, adding and messages, of the busiest rank
  double exposed_seconds = 0;      ///< waiting for other ranks and the network
  double images_per_second = 0;
  double speedup = 0;     ///< in images/s, relative to one rank
  double efficiency = 0;  ///< speedup / ranks

  double seconds() const { return compute_seconds + summing_seconds + exposed_seconds; }
};

/// Predicts a synchronous step by a discrete-event simulation of all ranks. The exchange follows the code of
/// a real run: sync::cut_buckets and sync::AllReduce decide what is sent, when and in which order, and
/// engine::NodeShare what each rank of a node adds; only time and the network are simulated. Every rank
/// computes as long as the busiest one. Not modeled: ranks of unequal speed, and other traffic. Throws Error
/// if the profile lacks the micro-batch count.
StepPrediction predict_step(const StepProfile& profile, const Cluster& cluster, int ranks, Scaling scaling);

}  // namespace convoke::study
