#pragma once

namespace convoke::mpi {

/// How MPI sums over the ranks of a group without blocking.
enum class Sums {
  kTree,          ///< everything to rank 0 along a binomial tree, and back
  kRabenseifner,  ///< reduce-scatter by halving, allgather by doubling (Rabenseifner, ICCS 2004)
  kRing,          ///< reduce-scatter and allgather around a ring
};

/// What a Session has Open MPI use in a job of so many ranks, unless the user has said otherwise.
Sums sums_for(int ranks);

}  // namespace convoke::mpi
