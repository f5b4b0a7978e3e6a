#include <string>
#include "convoke/mpi/communicator.hpp"

#include "convoke/mpi/control_variable.hpp"
#include "support/catch.hpp"

using namespace convoke::mpi;

TEST_CASE("few ranks sum along a tree, 2^k by halving and doubling, others around a short ring") {
  for (const int ranks : {0, 1, 2}) CHECK(sums_for(ranks) == Sums::kTree);
  for (const int ranks : {3, 5, 6, 31}) CHECK(sums_for(ranks) == Sums::kRing);
  for (const int ranks : {4, 8, 1024, 33, 1000}) CHECK(sums_for(ranks) == Sums::kRabenseifner);
}

// The numbers are Open MPI's: 0 leaves the choice to Open MPI, which uses the tree for sums in place.
TEST_CASE("Open MPI receives the choice") {
  const auto heard = control_variable("coll_libnbc_iallreduce_algorithm");
  if (!heard) return;             // another MPI
  const Sums sums = sums_for(1);  // the test runs on one node
  CHECK(*heard == (sums == Sums::kTree ? "0" : sums == Sums::kRing ? "1" : "3"));
}
