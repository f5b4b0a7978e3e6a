#pragma once
#include <memory>

#include "convoke/os/periodic_thread.hpp"

namespace convoke::mpi {

/// Ends the job with an error that names the host if a host that this rank talks to by TCP has not answered
/// for a minute, or for CONVOKE_LINK_TIMEOUT seconds; 0 turns it off. Without it, ranks wait for ever for a
/// host that is cut off: MPI has no time limit, and the kernel waits a quarter of an hour. The thread looks a
/// few times a minute. Returns null if it is off.
std::unique_ptr<os::PeriodicThread> watch_links();

}  // namespace convoke::mpi
