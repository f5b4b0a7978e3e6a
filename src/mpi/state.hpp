#pragma once
#include <mpi.h>

#include <cstddef>

#include "convoke/mpi/communicator.hpp"

namespace convoke::mpi {

struct Communicator::State {
  State(MPI_Comm communicator, bool owned);
  ~State();
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  MPI_Comm comm;
  bool owned;
  int rank = 0;
  int size = 0;
  int exceptions;  ///< in flight when it was created
};

/// The largest number of elements of one MPI call, whose counts are ints. Tests lower it to test pieces.
std::size_t& piece_elements();

}  // namespace convoke::mpi
