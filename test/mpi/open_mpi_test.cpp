#include "mpi/open_mpi.hpp"

#include <dlfcn.h>

#include "convoke/mpi/session.hpp"
#include "support/catch.hpp"

using namespace convoke;

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
