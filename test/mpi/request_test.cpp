#include "convoke/mpi/communicator.hpp"

#include <mpi.h>

#include "mpi/state.hpp"
#include "support/catch.hpp"
#include "support/replaced_calls.hpp"
#include "support/world.hpp"

using namespace convoke;
using mpi::Communicator;
using mpi::Request;

namespace {

bool test_until_done(Request& request) {
  const auto begin = std::chrono::steady_clock::now();
  while (!request.test())
    if (std::chrono::steady_clock::now() - begin > std::chrono::seconds(30)) return false;
  return true;
}

}  // namespace

TEST_CASE("a request that was never started is done") {
  Request request;
  CHECK(request.test());
  request.wait();
  CHECK(request.test());
}

TEST_CASE("a started sum is done after wait, or when test returns true") {
  const int n = world().size();
  std::vector<float> floats(1000);
  std::iota(floats.begin(), floats.end(), 0.0F);
  std::vector<std::int64_t> integers(1000, std::int64_t{1} << 50);
  Request first = world().start_sum(std::span<float>(floats));
  Request second = world().start_sum(std::span<std::int64_t>(integers));
  second.wait();
  CHECK(test_until_done(first));
  for (std::size_t i = 0; i < 1000; ++i) {
    CHECK(floats[i] == static_cast<float>(n) * static_cast<float>(i));
    CHECK(integers[i] == n * (std::int64_t{1} << 50));
  }
}

TEST_CASE("a sum of several pieces is one request") {
  const replaced::InFront pieces(mpi::piece_elements(), std::size_t{3});
  std::vector<std::int64_t> waited{1, 2, 3, 4, 5, 6, 7};
  std::vector<std::int64_t> tested = waited;
  Request first = world().start_sum(std::span<std::int64_t>(waited));
  Request second = world().start_sum(std::span<std::int64_t>(tested));
  first.wait();
  CHECK(test_until_done(second));
  const std::int64_t n = world().size();
  const std::vector<std::int64_t> expected{n, 2 * n, 3 * n, 4 * n, 5 * n, 6 * n, 7 * n};
  CHECK(waited == expected);
  CHECK(tested == expected);
}

TEST_CASE("a request can be moved while it runs") {
  std::vector<float> values{1.0F};
  Request request = world().start_sum(std::span<float>(values));
  Request moved = std::move(request);
  Request assigned;
  assigned = std::move(moved);
  CHECK(request.test());  // a moved-from request is empty
  assigned.wait();
  CHECK(values[0] == static_cast<float>(world().size()));
}
