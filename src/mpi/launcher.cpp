#include <fmt/format.h>

#include <array>
#include <cstdlib>

#include "convoke/mpi/session.hpp"

namespace convoke::mpi {
namespace {

struct Launcher {
  const char* variable;  ///< where it says how many processes it has started
  const char* name;
};

constexpr std::array kLaunchers{
    Launcher{"OMPI_COMM_WORLD_SIZE", "the mpirun of Open MPI"},
    Launcher{"PMI_SIZE", "the mpirun of MPICH or Intel MPI"},
    Launcher{"MV2_COMM_WORLD_SIZE", "the mpirun of MVAPICH2"},
    Launcher{"SLURM_STEP_NUM_TASKS", "srun"},
};

}  // namespace

std::string launcher_warning(int world_size) {
  if (world_size != 1) return {};
  // The first that is set is ours, if it is right; Slurm's comes last, since under an mpirun inside a Slurm
  // job it counts the daemons of that mpirun.
  for (const Launcher& launcher : kLaunchers) {
    const char* value = std::getenv(launcher.variable);
    if (value == nullptr) continue;
    const int started = std::atoi(value);
    if (started <= 1) return {};
    return fmt::format(
        "{} has started {} processes ({}={}), but each of them is alone in its MPI world and would do the "
        "whole job: "
        "the launcher does not belong to {}, which this program was built with. Start it with that MPI's "
        "mpirun, or "
        "under Slurm with srun --mpi=pmix.",
        launcher.name, started, launcher.variable, value, Session::library_version());
  }
  return {};
}

}  // namespace convoke::mpi
