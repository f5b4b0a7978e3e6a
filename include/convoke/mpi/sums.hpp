#pragma once

namespace convoke::mpi {

/// The algorithm for non-blocking sums over the ranks of a group.
enum class Sums {
  kTree,          ///< everything to rank 0 along a binomial tree, and back
  kRabenseifner,  ///< reduce-scatter by halving, allgather by doubling (Rabenseifner, ICCS 2004)
  kRing,          ///< reduce-scatter and allgather around a ring
};

/// Returns the algorithm that a Session sets in Open MPI for a job of so many ranks, unless the user chose
/// one.
Sums sums_for(int ranks);

}  // namespace convoke::mpi
