#pragma once

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

}  // namespace convoke::study
