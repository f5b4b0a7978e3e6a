#include "convoke/doctor/launcher.hpp"

#include "support/catch.hpp"
#include "support/variable.hpp"

namespace doctor = convoke::doctor;
using convoke::run::machine_of;

TEST_CASE("processes that are each alone in their MPI world are an error") {
  const Variable open_mpi("OMPI_COMM_WORLD_SIZE", std::nullopt), slurm("SLURM_STEP_NUM_TASKS", std::nullopt);
  const Variable mpich("PMI_SIZE", "4");
  const auto alone = doctor::check_launcher(machine_of({{"alpha", 0, {0}, 0}}, 0));
  REQUIRE(alone.size() == 1);
  CHECK(alone[0].severity == doctor::Severity::kError);
  CHECK_THAT(alone[0].evidence, Contains("has started 4 processes (PMI_SIZE=4)"));
  CHECK_THAT(alone[0].fix, Contains("srun --mpi=pmix"));
  const auto two = doctor::check_launcher(machine_of({{"alpha", 0, {0}, 0}, {"beta", 1, {0}, 0}}, 0));
  REQUIRE(two.size() == 1);
  CHECK(two[0].severity == doctor::Severity::kOk);
  CHECK(two[0].evidence.find("2 ranks in one MPI world on 2 hosts") == 0);
}
