#pragma once
#include <optional>
#include <string>

namespace convoke::mpi {

/// Who has started this program, as its environment says.
struct Launcher {
  const char* name;
  const char* variable;  ///< where it says how many processes it has started
  int processes = 0;
};

/// None for a program that was started by itself. Slurm counts as a launcher only where no mpirun says so:
/// under one, it counts the daemons of that mpirun.
std::optional<Launcher> launcher();

/// A warning if the launcher speaks of several processes while this program is a world of one: it was started
/// by the mpirun of another MPI, and every process would do the whole job by itself. Empty if all is well.
std::string launcher_warning(int world_size);

}  // namespace convoke::mpi
