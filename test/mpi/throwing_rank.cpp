// A program that fails on request: throwing_rank RANK HOW. RANK: the rank that throws, or "all"; the others
// wait in a barrier for ever. HOW: "inside" throws with shared memory and a session in scope, "outside" has
// both in an outer scope, "before" throws before there is a session, "thread" aborts from a second thread
// while the first is inside MPI.
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <thread>

#include "convoke/core/error.hpp"
#include "convoke/mpi/session.hpp"
#include "convoke/mpi/shared_memory.hpp"

namespace {

using namespace convoke;

void throw_if_chosen(const char* chosen, int mine) {
  int rank = -1;
  std::from_chars(chosen, chosen + std::strlen(chosen), rank);
  if (rank == mine || std::strcmp(chosen, "all") == 0)
    throw Error("no space left on /scratch", "choose another --output");
}

void work(const mpi::Communicator& world, const char* chosen) {
  const mpi::Communicator node = world.split_node();
  const mpi::SharedMemory memory(node, 1000);
  throw_if_chosen(chosen, world.rank());
  world.barrier();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  std::signal(SIGTERM, SIG_IGN);  // like a trainer that saves first
  const bool inside = std::strcmp(argv[2], "inside") == 0;
  if (std::strcmp(argv[2], "before") == 0) {
    const char* rank = std::getenv("OMPI_COMM_WORLD_RANK");
    if (rank == nullptr) rank = std::getenv("PMI_RANK");  // MPICH
    try {
      throw_if_chosen(argv[1], rank == nullptr ? 0 : std::atoi(rank));
    } catch (const std::exception& error) {
      mpi::Session::abort(error, 3);
    }
  }
  std::optional<mpi::Session> outer;
  if (!inside) outer.emplace();
  try {
    std::optional<mpi::Session> inner;
    if (inside) inner.emplace();
    const mpi::Communicator world = (inside ? inner : outer)->world();
    if (std::strcmp(argv[2], "thread") == 0) {
      std::thread watchdog;
      if (world.rank() == world.size() - 1)
        watchdog = std::thread([] { mpi::Session::abort(Error("stalled", "look at the other ranks"), 3); });
      if (world.root())
        watchdog.joinable() ? watchdog.join() : std::this_thread::sleep_for(std::chrono::seconds(60));
      world.barrier();
    }
    work(world, argv[1]);
  } catch (const std::exception& error) {
    mpi::Session::abort(error, 3);
  }
}
