#include "convoke/mpi/session.hpp"
#include "convoke/mpi/library.hpp"

#include <mpi.h>

#include "convoke/os/environment.hpp"
#include "support/catch.hpp"
#include "support/variable.hpp"

using namespace convoke;

TEST_CASE("a session joins MPI if it already runs, and leaves it running") {
  {
    const mpi::Session session;
    int size = 0;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    CHECK(session.world().size() == size);
    CHECK(session.init_seconds() == 0);
  }
  int finalized = 1;
  MPI_Finalized(&finalized);
  CHECK(finalized == 0);
}

TEST_CASE("another thread may abort: MPI runs with thread support") {
  mpi::control_variable("mpi_yield_when_idle");  // starts the tool interface, which has its own level
  int level = MPI_THREAD_SINGLE;
  MPI_Query_thread(&level);
  CHECK(level == MPI_THREAD_MULTIPLE);
}

TEST_CASE("the names of the library and the host fit on a line") {
  const std::string version = mpi::Session::library_version();
  CHECK_FALSE(version.empty());
  CHECK(version.find('\n') == std::string::npos);
  CHECK_THAT(version, !Contains("  "));
#ifdef OPEN_MPI
  CHECK(version.rfind("Open MPI v", 0) == 0);
#endif
  char name[MPI_MAX_PROCESSOR_NAME];
  int length = 0;
  MPI_Get_processor_name(name, &length);
  CHECK(os::host_name() == std::string(name, static_cast<std::size_t>(length)));
}

TEST_CASE("a launcher of another MPI is detected") {
  const Variable open_mpi("OMPI_COMM_WORLD_SIZE", std::nullopt), mpich("PMI_SIZE", std::nullopt),
      mvapich("MV2_COMM_WORLD_SIZE", std::nullopt), slurm("SLURM_STEP_NUM_TASKS", std::nullopt);
  CHECK(mpi::launcher_warning(1).empty());  // no launcher

  setenv("OMPI_COMM_WORLD_SIZE", "4", 1);
  const std::string warning = mpi::launcher_warning(1);
  CHECK_THAT(warning, Contains("OMPI_COMM_WORLD_SIZE=4"));
  CHECK(warning.find(mpi::Session::library_version()) != std::string::npos);
  CHECK(mpi::launcher_warning(4).empty());

  setenv("OMPI_COMM_WORLD_SIZE", "1", 1);
  CHECK(mpi::launcher_warning(1).empty());

  // mpirun -n 1 inside a Slurm step of two daemons: our launcher reports one process, which is right.
  setenv("SLURM_STEP_NUM_TASKS", "2", 1);
  CHECK(mpi::launcher_warning(1).empty());
  unsetenv("OMPI_COMM_WORLD_SIZE");
  CHECK(mpi::launcher_warning(1).find("srun has started 2 processes") == 0);
  unsetenv("SLURM_STEP_NUM_TASKS");
  setenv("PMI_SIZE", "3", 1);
  CHECK_THAT(mpi::launcher_warning(1), Contains("PMI_SIZE=3"));
}

TEST_CASE("the launcher that runs this test is the right one") {
  int size = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  CHECK(mpi::launcher_warning(size).empty());
}
