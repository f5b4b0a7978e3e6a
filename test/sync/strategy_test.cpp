#include "convoke/sync/strategy.hpp"

#include <mpi.h>

#include <vector>

#include "convoke/core/error.hpp"
#include "support/catch.hpp"
#include "support/world.hpp"

using namespace convoke;

namespace {}  // namespace

TEST_CASE("every strategy in the table can be made") {
  std::vector<float> gradients(10, 1.0F);
  for (const char* const name : {"allreduce", "none"})
    CHECK(sync::make_strategy(name, world(), {gradients, {}}, {}));
}

TEST_CASE("an unknown strategy is refused, listing the known ones") {
  std::vector<float> gradients(10);
  try {
    sync::make_strategy("allredcue", world(), {gradients, {}}, {});
    FAIL("no error");
  } catch (const Error& error) {
    CHECK(std::string(error.what()) == "unknown strategy \"allredcue\" (did you mean \"allreduce\"?)");
    CHECK(error.hint() == "known: allreduce, none");
  }
}

TEST_CASE("without exchange the sums are this rank's own gradients") {
  std::vector<float> gradients(1000, static_cast<float>(world().rank() + 1));
  std::vector<float> parameters(1000, 3.0F);
  const auto strategy = sync::make_strategy("none", world(), {gradients, {}}, {});
  strategy->begin_step();
  strategy->gradients_ready(1000);
  strategy->finish_gradients();
  strategy->after_step(parameters);
  CHECK(gradients == std::vector<float>(1000, static_cast<float>(world().rank() + 1)));
  CHECK(parameters == std::vector<float>(1000, 3.0F));
  CHECK(strategy->exposed_seconds() == 0);
}
