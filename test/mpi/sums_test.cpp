#include "convoke/mpi/library.hpp"
#include "support/catch.hpp"

using namespace convoke::mpi;

// The number is Open MPI's, of Rabenseifner's algorithm.
TEST_CASE("Open MPI receives the choice of an algorithm for sums") {
  const auto heard = control_variable("coll_libnbc_iallreduce_algorithm");
  if (!heard) return;  // another MPI
  CHECK(*heard == "3");
}
