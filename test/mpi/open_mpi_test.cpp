#include "mpi/open_mpi.hpp"

#include <dlfcn.h>

#include <optional>
#include <string>

#include "convoke/mpi/session.hpp"
#include "convoke/os/environment.hpp"
#include "support/catch.hpp"
#include "support/variable.hpp"

using namespace convoke;

TEST_CASE("Open MPI 4 looks for a network only if ranks are on other hosts") {
  if (!mpi::Session::library_version().starts_with("Open MPI v4.")) return;
  struct Launch {
    std::optional<std::string> ranks, of_this_host, nodes;  // by mpirun, and by srun
    std::optional<std::string> user, messages;
  };
  constexpr auto none = std::nullopt;
  for (const Launch& launch : {
           Launch{"4", "4", none, none, "ob1"},
           Launch{"4", "2", none, none, none},
           Launch{"4", "4", none, "ucx", "ucx"},
           Launch{none, none, "1", none, "ob1"},
           Launch{none, none, "2", none, none},
           Launch{none, none, none, none, "ob1"},
       }) {
    CAPTURE(launch.ranks.value_or(""), launch.of_this_host.value_or(""), launch.nodes.value_or(""));
    const Variable ranks("OMPI_COMM_WORLD_SIZE", launch.ranks),
        here("OMPI_COMM_WORLD_LOCAL_SIZE", launch.of_this_host);
    const Variable tasks("SLURM_STEP_NUM_TASKS", launch.nodes ? std::optional<std::string>("4") : none);
    const Variable nodes("SLURM_STEP_NUM_NODES", launch.nodes), user("OMPI_MCA_pml", launch.user);
    {
      const mpi::open_mpi::LocalMessages messages;
      CHECK(os::variable("OMPI_MCA_pml") == launch.messages);
    }
    CHECK(os::variable("OMPI_MCA_pml") == launch.user);  // for programs that this one starts
  }
}

TEST_CASE("the banners of Open MPI are suppressed only in tested versions") {
  auto* const pointer = static_cast<void**>(dlsym(RTLD_DEFAULT, "opal_show_help"));
  void* const before = pointer == nullptr ? nullptr : *pointer;
  for (const char* version :
       {"Open MPI v6.0.0", "Open MPI v4.0.7", "Open MPI v3.1.6", "MPICH Version: 4.0.2", ""}) {
    CAPTURE(version);
    CHECK_FALSE(mpi::open_mpi::silence_banners(version));
    if (pointer != nullptr) CHECK(*pointer == before);
  }
  const std::string here = mpi::Session::library_version();
  CAPTURE(here);
  if (here.starts_with("Open MPI v4.1.")) {
    REQUIRE(pointer != nullptr);
    CHECK(mpi::open_mpi::silence_banners(here));
    CHECK(*pointer != before);
    *pointer = before;
  }
}
