#include "convoke/doctor/launcher.hpp"

#include "doctor/told.hpp"
#include "support/variable.hpp"

namespace doctor = convoke::doctor;
using convoke::run::machine_of;

TEST_CASE("processes that are each alone in their MPI world are an error") {
  const Variable open_mpi("OMPI_COMM_WORLD_SIZE", std::nullopt), slurm("SLURM_STEP_NUM_TASKS", std::nullopt);
  const Variable mpich("PMI_SIZE", "4");
  const std::string alone = told(doctor::check_launcher(machine_of({{"alpha", 0, {0}, 0}}, 0)));
  CHECK_THAT(alone, StartsWith("error: ") && Contains("has started 4 processes (PMI_SIZE=4)"));
  CHECK_THAT(alone.substr(alone.find(" | ")), Contains("srun --mpi=pmix"));
  const auto two = doctor::check_launcher(machine_of({{"alpha", 0, {0}, 0}, {"beta", 1, {0}, 0}}, 0));
  CHECK_THAT(told(two), StartsWith("ok: 2 ranks in one MPI world on 2 hosts"));
}
