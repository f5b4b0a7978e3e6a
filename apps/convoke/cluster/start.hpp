#pragma once
#include "convoke/mpi/communicator.hpp"
#include "convoke/run/machine.hpp"

namespace convoke::app {

/// Seconds since the program was loaded, just before main.
double seconds_since_start();

/// Where each rank runs, after doctor::fix_binding has replaced bindings to too few cores, which rank 0
/// reports in one line on standard error. `threads`: per rank; 0: auto. Collective.
run::Machine bound_machine(const mpi::Communicator& world, int threads);

}  // namespace convoke::app
