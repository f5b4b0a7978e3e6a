#include "convoke/mpi/together.hpp"
#include "convoke/os/environment.hpp"

#include <functional>
#include <new>

#include "convoke/mpi/session.hpp"
#include "support/catch.hpp"
#include "support/error_of.hpp"

using namespace convoke;

TEST_CASE("all ranks throw the exception of one; exceptions other than Error name the host") {
  const mpi::Session session;
  const mpi::Communicator& world = session.world();
  CHECK(mpi::together(world, [&] { return world.rank(); }) == world.rank());
  const auto thrown = [&](const std::function<void()>& failure) {
    return error_of([&] {
      mpi::together(world, [&] {
        if (world.rank() == world.size() / 2) failure();
      });
    });
  };
  CHECK(thrown([] { throw Error("no such file"); }) == "no such file");
  if (world.size() == 1) return;  // a single rank rethrows its own exception
  CHECK(thrown([] { throw std::bad_alloc(); }) == os::host_name() + ": out of memory");
  CHECK(thrown([] { throw std::runtime_error("odd"); }) == os::host_name() + ": odd");
}

TEST_CASE("rank 0 works for all ranks: they get its number or text, or its error") {
  const mpi::Session session;
  const mpi::Communicator& world = session.world();
  int calls = 0;
  mpi::on_root(world, [&] { ++calls; });
  CHECK(calls == (world.root() ? 1 : 0));
  CHECK(mpi::on_root(world, [&] { return 42.5 + world.rank(); }) == 42.5);
  CHECK(mpi::on_root(world, [&] { return fmt::format("rank {}", world.rank()); }) == "rank 0");
  CHECK(mpi::on_root(world, [] { return std::optional<double>(); }) == std::nullopt);
  CHECK(error_of([&] { mpi::on_root(world, [] { throw Error("no such folder"); }); }) == "no such folder");
}

TEST_CASE("all ranks get the numbers of all, and the first text that is not empty") {
  const mpi::Session session;
  const mpi::Communicator& world = session.world();
  const std::vector<int> tens = mpi::all_gather(world, 10 * world.rank());
  CHECK(std::ssize(tens) == world.size());
  for (int rank = 0; rank < world.size(); ++rank) CHECK(tens[static_cast<std::size_t>(rank)] == 10 * rank);
  const int last = world.size() - 1, before = std::max(0, last - 1);
  const std::string mine = world.rank() < before ? "" : fmt::format("rank {}", world.rank());
  CHECK(mpi::first_text(world, mine) == fmt::format("rank {}", before));
  CHECK(mpi::first_text(world, "").empty());
}
