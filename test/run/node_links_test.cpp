#include "convoke/run/straggler.hpp"
#include "support/catch.hpp"
#include "support/world.hpp"

using namespace convoke;

TEST_CASE("every node's links are measured, with any number of nodes") {
  // Every rank as a node of its own, then the last two on one node.
  for (const bool together : {false, true}) {
    std::vector<run::Placement> placements;
    for (int rank = 0; rank < world().size(); ++rank) {
      const bool second = together && rank > 0 && rank == world().size() - 1;
      placements.push_back({.host = "host", .node = second ? rank - 1 : rank, .cores = {rank}});
    }
    const run::Machine machine = run::machine_of(placements, world().rank());
    const std::vector<double> seconds = run::measure_node_links(machine, world());
    REQUIRE(static_cast<int>(seconds.size()) == world().size());
    for (int rank = 0; rank < world().size(); ++rank) {
      CAPTURE(rank, machine.nodes);
      const bool measured = machine.nodes > 1 && placements[static_cast<std::size_t>(rank)].node == rank;
      CHECK((seconds[static_cast<std::size_t>(rank)] > 0) == measured);
    }
  }
}
