#pragma once
#include <mpi.h>

#include "convoke/mpi/communicator.hpp"

/// All ranks of the test.
inline convoke::mpi::Communicator world() {
  return convoke::mpi::Communicator::wrap(MPI_Comm_c2f(MPI_COMM_WORLD));
}
