#pragma once
#include <mpi.h>

#include "convoke/mpi/communicator.hpp"

/// All ranks of the test.
inline const convoke::mpi::Communicator& world() {
  static const auto all = convoke::mpi::Communicator::wrap(MPI_Comm_c2f(MPI_COMM_WORLD));
  return all;
}

/// This rank alone. Collective over world().
inline convoke::mpi::Communicator alone() { return world().split(world().rank(), 0); }
