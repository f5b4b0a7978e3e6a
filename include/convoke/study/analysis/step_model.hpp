#pragma once
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace convoke::study {

/// What one message between two ranks takes: latency + bytes / bytes_per_second.
struct LinkSpeed {
  double latency_seconds = 0;
  double bytes_per_second = 0;
  /// Of that, what keeps the receiving rank's core busy, so that it hides behind no computation: all of it
  /// through shared memory, nearly nothing with RDMA.
  double core_seconds_per_byte = 0;
};

/// How MPI sums over p ranks without blocking.
enum class SumAlgorithm {
  kTree,          ///< ceil(log2 p) rounds of all bytes to rank 0, and as many back
  kRabenseifner,  ///< log2 p rounds of a half, a quarter, ... and as many back; all bytes twice more where p
                  ///< is no power of two
  kRing,          ///< p - 1 rounds of 1 / p of the bytes, and as many back
};

/// Where the ranks run: `ranks_per_node` neighbours on each node.
struct Cluster {
  int ranks_per_node = 1;
  LinkSpeed within, between;
  SumAlgorithm algorithm = SumAlgorithm::kTree;
};

/// A slice of the gradients that is summed by itself.
struct Bucket {
  double bytes = 0;
  double seconds_before_end = 0;  ///< of a rank's computation, when its gradients are complete
};

/// What more ranks share: the step of one rank, or each has as much as that one.
enum class Scaling { kStrong, kWeak };

/// What a step takes on one rank, measured without any exchange.
struct StepProfile {
  struct Compute {
    std::int64_t lanes = 0;  ///< of this rank
    double seconds = 0;      ///< loading, forward, backward and update
    double scatter = 0;      ///< of the rounds that were measured: (slowest - fastest) / median
  };
  std::int64_t lanes = 0;  ///< of a step of one rank
  std::int64_t batch = 0;  ///< samples of it
  std::vector<Compute> compute = {};
  std::vector<Bucket> buckets = {};  ///< in the order in which they are summed
  double add_seconds_per_byte = 0;   ///< adding a received part to one's own

  /// The most that any of `compute` has.
  double scatter() const;
};

/// A step on so many ranks, of which the busiest is waited for.
struct StepPrediction {
  int ranks = 1;
  std::int64_t lanes = 0;  ///< of the busiest rank
  double compute_seconds = 0;
  double summing_seconds = 0;  ///< what moving and adding takes of the core
  double exposed_seconds = 0;  ///< waiting for the network after the last gradient
  double images_per_second = 0;
  double speedup = 0;     ///< in images/s, over one rank
  double efficiency = 0;  ///< speedup / ranks

  double seconds() const { return compute_seconds + summing_seconds + exposed_seconds; }
};

/// The lanes of the busiest rank: ceil(lanes / ranks), or in weak scaling all.
std::int64_t busiest_lanes(std::int64_t lanes, int ranks, Scaling scaling);

/// The lane counts that a profile needs for these numbers of ranks, and for one; rising.
std::vector<std::int64_t> needed_lanes(std::int64_t lanes, std::span<const int> ranks, Scaling scaling);

/// A synchronous step. Buckets are summed one after another, each begun when its gradients and the sum before
/// it allow; in a tree, the way of one to the sums and the way back of another overlap, as links carry both
/// directions at once. What is not in it: ranks of unequal speed, and other traffic. Throws Error if the
/// profile lacks the lane count.
StepPrediction predict_step(const StepProfile& profile, const Cluster& cluster, int ranks, Scaling scaling);

}  // namespace convoke::study
