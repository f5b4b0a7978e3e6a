#pragma once
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace convoke::study {

/// The time of one message between two nodes: latency + bytes / bytes_per_second.
struct LinkSpeed {
  double latency_seconds = 0;
  double bytes_per_second = 0;
  /// The part that keeps the receiving rank's core busy, so that computation cannot hide it: almost nothing
  /// with RDMA.
  double core_seconds_per_byte = 0;
};

/// The algorithm of a sum over p ranks, one of each node.
enum class SumAlgorithm {
  kSlices,  ///< each rank sends 1 / p of the bytes to each other rank at the same time, and the same back
  kRabenseifner,  ///< log2 p rounds of a half, a quarter, ... and the same back; if p is not a power of two,
                  ///< all bytes twice more
};

/// The placement of the ranks: `ranks_per_node` neighbours on each node. They sum in shared memory, each a
/// slice, and send their slices over the same link of the node (engine::GradientSums).
struct Cluster {
  int ranks_per_node = 1;
  LinkSpeed link;
  SumAlgorithm algorithm = SumAlgorithm::kSlices;

  /// Returns the number of nodes that so many ranks need.
  int nodes_for(int ranks) const { return (ranks + ranks_per_node - 1) / ranks_per_node; }
};

/// A slice of the gradients that is summed separately.
struct Bucket {
  double bytes = 0;
  double seconds_before_end =
      0;  ///< time before the end of a rank's computation at which its gradients are complete
};

/// Strong scaling: the ranks share the step of one rank. Weak scaling: each rank has as much work as that
/// one.
enum class Scaling { kStrong, kWeak };

/// Times of a step on one rank, measured without any exchange.
struct StepProfile {
  struct Compute {
    std::int64_t lanes = 0;  ///< lanes (micro-batches) of this rank
    double seconds = 0;      ///< loading, forward, backward and update
    double scatter = 0;      ///< over the measured rounds: (slowest - fastest) / median
  };
  std::int64_t lanes = 0;  ///< of a step of one rank
  std::int64_t batch = 0;  ///< samples of it
  std::vector<Compute> compute = {};
  std::vector<Bucket> buckets = {};  ///< in the order in which they are summed
  double add_seconds_per_byte = 0;   ///< adding another rank's values to the own

  /// The largest scatter in `compute`.
  double scatter() const;
};

/// A step on several ranks, whose time is that of the busiest rank.
struct StepPrediction {
  int ranks = 1;
  std::int64_t lanes = 0;  ///< of the busiest rank
  double compute_seconds = 0;
  double summing_seconds = 0;  ///< core time for moving and adding
  double exposed_seconds = 0;  ///< waiting for the network after the last gradient
  double images_per_second = 0;
  double speedup = 0;     ///< in images/s, relative to one rank
  double efficiency = 0;  ///< speedup / ranks

  double seconds() const { return compute_seconds + summing_seconds + exposed_seconds; }
};

/// Returns the lanes of the busiest rank: ceil(lanes / ranks), or all lanes in weak scaling.
std::int64_t busiest_lanes(std::int64_t lanes, int ranks, Scaling scaling);

/// Returns the lane counts that a profile needs for these numbers of ranks and for one rank; ascending.
std::vector<std::int64_t> needed_lanes(std::int64_t lanes, std::span<const int> ranks, Scaling scaling);

/// Predicts a synchronous step. Buckets are summed one after another; each sum starts when its gradients are
/// complete and the previous sum allows it. Not modelled: ranks of unequal speed, and other traffic. Throws
/// Error if the profile lacks the lane count.
StepPrediction predict_step(const StepProfile& profile, const Cluster& cluster, int ranks, Scaling scaling);

}  // namespace convoke::study
