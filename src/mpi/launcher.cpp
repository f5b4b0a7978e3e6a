#include "convoke/mpi/launcher.hpp"

#include <fmt/format.h>

#include <array>
#include <cstdlib>

#include "convoke/mpi/session.hpp"
#include "convoke/os/environment.hpp"

namespace convoke::mpi {
namespace {

constexpr std::array kLaunchers{
    Launcher{"the mpirun of Open MPI", "OMPI_COMM_WORLD_SIZE"},
    Launcher{"the mpirun of MPICH or Intel MPI", "PMI_SIZE"},
    Launcher{"the mpirun of MVAPICH2", "MV2_COMM_WORLD_SIZE"},
    Launcher{"srun", "SLURM_STEP_NUM_TASKS"},
};

}  // namespace

std::optional<Launcher> launcher() {
  for (Launcher candidate : kLaunchers) {
    const std::optional<std::int64_t> processes = os::number_in(candidate.variable);
    if (!processes) continue;
    candidate.processes = static_cast<int>(*processes);
    return candidate;
  }
  return {};
}

std::string launcher_warning(int world_size) {
  const std::optional<Launcher> by = launcher();
  if (world_size != 1 || !by || by->processes <= 1) return {};
  return fmt::format(
      "{} has started {} processes ({}={}), but each of them is alone in its MPI world and would do the "
      "whole job: the launcher does not belong to {}, which this program was built with. Start it with that "
      "MPI's mpirun, or under Slurm with srun --mpi=pmix.",
      by->name, by->processes, by->variable, by->processes, Session::library_version());
}

}  // namespace convoke::mpi
