#pragma once
#include <cstdint>

#include "convoke/study/prediction/step_profile.hpp"

namespace convoke::study {

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
