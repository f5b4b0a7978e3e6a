#pragma once
#include <span>
#include <string>
#include <vector>

#include "convoke/mpi/communicator.hpp"

namespace convoke::run {

/// Where a rank may run.
struct Placement {
  std::string host;
  int node = 0;            ///< equal for ranks that share memory: the lowest of them
  std::vector<int> cores;  ///< physical cores of its binding, by their first logical CPU, sorted
  double quota = 0;        ///< CPUs that the control group grants; 0: no limit
};

/// Ranks of a node whose bindings overlap, directly or through others, and the cores they share; sorted.
struct Sharing {
  std::vector<int> ranks;
  std::vector<int> cores;
};

/// Those of `node`; a rank whose cores are its own is alone in one.
std::vector<Sharing> sharings(std::span<const Placement> placements, int node);

/// Who runs where, as one rank sees it.
struct Machine {
  std::string host;
  int rank = 0;
  int ranks = 1;
  int nodes = 1;
  int local_rank = 0;  ///< among the ranks of its node
  int local_ranks = 1;
  /// This rank's share of its binding, at least 1: ranks bound to cores of their own have all of them, ranks
  /// whose bindings overlap divide the union; a control group's quota is divided among the ranks of the node.
  int cores = 1;
  std::vector<Placement> placements;  ///< of every rank

  /// Worker threads of this rank: `requested`, or its share of cores when that is 0 ("auto").
  int threads_for(int requested) const { return requested > 0 ? requested : cores; }
  /// The same of any rank.
  int threads_of(int other, int requested) const;
  /// Worker threads of all ranks.
  int all_threads(int requested) const;
  /// Physical cores that they have: as many as threads, or those they share; of a node no more than its
  /// quota.
  int cores_of_all(int requested) const;
};

/// Collective over `world`.
Machine survey(const mpi::Communicator& world);

/// What survey() makes of everybody's placement; a pure function.
Machine machine_of(std::vector<Placement> placements, int rank);

}  // namespace convoke::run
