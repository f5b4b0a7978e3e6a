#include "convoke/mpi/shared_memory.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <cstring>

#include "convoke/mpi/together.hpp"
#include "convoke/os/environment.hpp"
#include "support/catch.hpp"
#include "support/world.hpp"

using namespace convoke;
using mpi::Communicator;
using mpi::SharedMemory;

TEST_CASE("every rank of the node reads the owner's writes") {
  const Communicator ranks = world().split_node();
  const SharedMemory memory(ranks, 100'003);
  CHECK(memory.owner() == ranks.root());
  CHECK(memory.bytes().size() == 100'003);
  CHECK(reinterpret_cast<std::uintptr_t>(memory.bytes().data()) % 64 == 0);
  for (int round = 1; round <= 3; ++round) {
    if (memory.owner()) std::memset(memory.bytes().data(), round, memory.bytes().size());
    memory.publish();
    CHECK(memory.bytes().front() == static_cast<std::byte>(round));
    CHECK(memory.bytes().back() == static_cast<std::byte>(round));
    ranks.barrier();  // all have read before the next round is written
  }
}

TEST_CASE("shared memory is one block, not a copy for each rank") {
  const Communicator ranks = world().split_node();
  const SharedMemory memory(ranks, static_cast<std::size_t>(ranks.size()));
  const auto mine = static_cast<std::size_t>(ranks.rank());
  memory.bytes()[mine] = static_cast<std::byte>(mine + 1);
  memory.publish();
  for (std::size_t r = 0; r < memory.bytes().size(); ++r)
    CHECK(memory.bytes()[r] == static_cast<std::byte>(r + 1));
  ranks.barrier();
}

TEST_CASE("shared memory may be empty, moved and replaced") {
  const Communicator ranks = world().split_node();
  SharedMemory empty(ranks, 0);
  CHECK(empty.bytes().empty());
  empty.publish();
  SharedMemory memory(ranks, 8);
  SharedMemory moved = std::move(memory);
  if (moved.owner()) moved.bytes()[7] = std::byte{42};
  moved.publish();
  CHECK(moved.bytes()[7] == std::byte{42});
  empty = std::move(moved);
  CHECK(empty.bytes()[7] == std::byte{42});
}

TEST_CASE("a rank whose exception leaves the scope does not wait for the others") {
  // The last rank throws while the others keep their memory until it tells them that it has left the scope.
  const Communicator ranks = world().split_node();
  const bool throws = ranks.rank() == ranks.size() - 1;
  if (ranks.size() == 1) return;
  auto memory = std::make_unique<SharedMemory>(ranks, 64);
  if (throws) {
    CHECK_THROWS_AS(
        [&] {
          const SharedMemory held = std::move(*memory);
          throw std::runtime_error("disk full");
        }(),
        std::runtime_error);
    for (int r = 0; r + 1 < ranks.size(); ++r) ranks.send({}, r, mpi::Tag::kMember);
  }
  ranks.barrier();
}

TEST_CASE("shared memory takes nothing of /dev/shm") {
  const Communicator ranks = world().split_node();
  if (ranks.size() == 1) return;
  const SharedMemory memory(ranks, 32 << 20);
  bool in_memory = false;
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);)
    in_memory = in_memory || line.find("/memfd:memory of the node") != std::string::npos;
  CHECK(in_memory);
  ranks.barrier();
}

TEST_CASE("if one rank cannot map the memory, all ranks of the node get the same error, and go on") {
  const Communicator ranks = world().split_node();
  if (ranks.size() == 1) return;
  rlimit before{};
  getrlimit(RLIMIT_AS, &before);
  if (ranks.rank() == ranks.size() - 1) {
    std::ifstream status("/proc/self/statm");
    rlim_t pages = 0;
    status >> pages;
    const rlimit little{pages * static_cast<rlim_t>(getpagesize()) + (rlim_t{64} << 20), before.rlim_max};
    setrlimit(RLIMIT_AS, &little);
  }
  std::string why;
  try {
    const SharedMemory memory(ranks, std::size_t{1} << 30);
  } catch (const mpi::GroupError& error) {
    why = error.what();
  }
  setrlimit(RLIMIT_AS, &before);
  CHECK_THAT(why, Contains("ranks of host " + convoke::os::host_name() + " cannot share 1.0 GiB"));
  CHECK_THAT(why, Contains("cannot be mapped into memory: Cannot allocate memory"));
  CHECK(ranks.broadcast(why) == why);
  const SharedMemory memory(ranks, 64);
  CHECK(memory.bytes().size() == 64);
}
