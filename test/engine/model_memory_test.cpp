#include "convoke/engine/model_memory.hpp"

#include <cstdint>

#include "support/catch.hpp"
#include "support/world.hpp"

using namespace convoke;
using namespace convoke::engine;

TEST_CASE("the ranks of a node see the same arrays, on separate cache lines") {
  const int me = world().rank();
  ModelMemory memory(
      world().split_node(),
      {.parameters = 5, .trainable = 3, .slots = 2, .average = true, .sums = 4, .exact = true, .blocks = 1},
      me + 1);
  CHECK(memory.workers() == world().size() * (world().size() + 1) / 2);
  CHECK(memory.first_worker() == me * (me + 1) / 2);
  const auto aligned = [](const auto& array) {
    return reinterpret_cast<std::uintptr_t>(array.data()) % 64 == 0;
  };
  for (const auto& array : {memory.parameters(), memory.state(0), memory.state(1), memory.average()}) {
    CHECK(aligned(array));
    for (const float value : array) CHECK(value == 0);
  }
  memory.barrier();

  // Each rank writes to what it owns, and the next one reads it.
  if (me == 0) memory.parameters()[4] = 7;
  memory.sums(memory.first_worker()).fixed[3] = 100 + me;
  memory.barrier();
  const int next = (me + 1) % world().size();
  CHECK(memory.parameters()[4] == 7);
  CHECK(memory.sums(next * (next + 1) / 2).fixed[3] == 100 + next);
  CHECK(aligned(memory.sums(0).floats));
}

TEST_CASE("a barrier holds every rank until the last has arrived") {
  ModelMemory memory(world().split_node(), {.parameters = 1, .sums = 1}, 1);
  // Every rank adds to its own number between two barriers, so all see the same numbers after a barrier.
  for (std::int64_t round = 1; round <= 2000; ++round) {
    memory.sums(world().rank()).completion->publish(static_cast<std::uint64_t>(round));
    memory.barrier();
    for (int rank = 0; rank < world().size(); ++rank) {
      if (memory.sums(rank).completion->count() != static_cast<std::uint64_t>(round)) {
        FAIL_CHECK("rank " << rank << " is in another round");
      }
    }
    memory.barrier();
  }
}
