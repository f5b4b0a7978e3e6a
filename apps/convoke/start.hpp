#pragma once
#include "convoke/mpi/communicator.hpp"
#include "convoke/run/machine.hpp"

namespace convoke::app {

/// Seconds since the program was loaded, just before main.
double seconds_since_start();

/// Who runs where, after a binding to too few cores is mended (doctor::settle), which rank 0 says in one line
/// on standard error. `threads`: per rank, 0: auto. Collective.
run::Machine settled(const mpi::Communicator& world, int threads);

}  // namespace convoke::app
