#pragma once
#include <sys/types.h>

#include "convoke/os/periodic_thread.hpp"

namespace convoke::mpi {

/// While it exists, ends this process if the mpirun (or its daemon) that started it has died. It guards
/// MPI_Init: Open MPI's first message to a dead mpirun waits for its answer for ever. After MPI_Init the
/// library notices by itself.
class LauncherWatch {
 public:
  LauncherWatch();

 private:
  pid_t launcher_;
  os::PeriodicThread thread_;
};

}  // namespace convoke::mpi
