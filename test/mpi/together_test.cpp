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
