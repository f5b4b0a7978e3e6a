#pragma once
#include <optional>
#include <span>
#include <string>

#include "convoke/run/machine.hpp"
#include "convoke/run/phases.hpp"

namespace convoke::run {

/// A rank that the others wait for, and why.
struct Straggler {
  int rank = 0;
  std::string host = {};
  std::string cause = {};  ///< "data", "samples", "other programs", "clock frequency", "compute", "network"
  /// How much longer than the median rank it computes, as a share of the median rank's steps; for "network",
  /// how much longer messages take.
  double excess = 0;
  std::string evidence = {};  ///< "assembling its samples took 3.20 s, 0.41 s on the median rank"
};

/// Finds the rank that computes longest, if that is longer than the lower median of all ranks by at least 5 %
/// of the steps. Its cause is the first that explains at least half of the excess: more time to assemble
/// samples, more samples, time in which its main thread had no core, a lower clock; "compute" if none does. A
/// rank that has more samples because another one is much slower is no straggler.
std::optional<Straggler> find_straggler(std::span<const RankTimes> ranks);

/// Finds a node whose link is less than half as fast as the lower median of all links. `seconds`: the time of
/// a message between nodes, by rank, of the first rank of each node; 0 on other ranks. With fewer than three
/// nodes, no link can be told from the others.
std::optional<Straggler> find_slow_link(std::span<const double> seconds);

/// Measures messages of 64 KiB between the first ranks of neighboring nodes, in a ring, for at most 50 ms on
/// Gigabit Ethernet; returns the faster of a node's two links, by rank, on all ranks. Collective.
std::vector<double> measure_node_links(const Machine& machine, const mpi::Communicator& world);

/// Applies the above: the links are measured only if ranks spend at least 10 % of their steps waiting
/// although none of them is slow. Collective.
std::optional<Straggler> diagnose(std::span<const RankTimes> ranks, const Machine& machine,
                                  const mpi::Communicator& world);

}  // namespace convoke::run
