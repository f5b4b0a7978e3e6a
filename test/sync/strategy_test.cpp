#include "convoke/sync/strategy.hpp"

#include "support/catch.hpp"
#include "support/error_of.hpp"

using namespace convoke;

namespace {

std::unique_ptr<const sync::Strategy> local_sgd(Settings options) {
  options.set("name", "local-sgd");
  return sync::make_strategy(options);
}

// Returns the steps of an epoch of 32 steps after which the models are averaged.
std::vector<std::int64_t> averages(const sync::Strategy& strategy, std::int64_t epoch) {
  std::vector<std::int64_t> steps;
  for (std::int64_t step = 1; step <= 32; ++step)
    if (strategy.averages_after(epoch, step)) steps.push_back(step);
  return steps;
}

}  // namespace

TEST_CASE("a strategy is made from its own settings") {
  for (const char* const name : {"allreduce", "local-sgd", "none"}) {
    const auto strategy = sync::make_strategy({{"name", name}});
    CHECK(strategy->settings().find("name")->to_string() == Value(name).to_string());
    CHECK(sync::make_strategy(strategy->settings())->settings() == strategy->settings());
  }
  CHECK(sync::make_strategy({})->sums_gradients(0));
  CHECK_FALSE(sync::make_strategy({{"name", "none"}})->sums_gradients(0));
}

TEST_CASE("an unknown strategy is refused, listing the known ones") {
  CHECK(refusal_of([] {
          sync::make_strategy({{"name", "allredcue"}});
        }) ==
        "unknown strategy \"allredcue\" (did you mean \"allreduce\"?) | known: allreduce, local-sgd, none");
  CHECK_THROWS_AS(local_sgd({{"evry", 8}}), Error);
  CHECK_THROWS_AS(local_sgd({{"every", 0}}), Error);
  CHECK_THROWS_AS(local_sgd({{"momentum", 1.0}}), Error);
}

TEST_CASE("local SGD averages every k steps") {
  CHECK(averages(*local_sgd({{"every", 8}}), 0) == std::vector<std::int64_t>{8, 16, 24, 32});
  CHECK(averages(*local_sgd({{"every", 12}}), 5) == std::vector<std::int64_t>{12, 24});
  CHECK(averages(*sync::make_strategy({{"name", "none"}}), 0).empty());
}

TEST_CASE("the number of local steps grows from epoch to epoch") {
  const auto strategy = local_sgd({{"every", 4}, {"growth", 2.0}, {"longest", 16}});
  CHECK(averages(*strategy, 0) == std::vector<std::int64_t>{4, 8, 12, 16, 20, 24, 28, 32});
  CHECK(averages(*strategy, 1) == std::vector<std::int64_t>{8, 16, 24, 32});
  CHECK(averages(*strategy, 2) == std::vector<std::int64_t>{16, 32});
  CHECK(averages(*strategy, 50) == std::vector<std::int64_t>{16, 32});
}

TEST_CASE("post-local SGD sums gradients in the first epochs; growth counts from the first local one") {
  const auto strategy = local_sgd({{"every", 8}, {"after_epochs", 2}, {"growth", 2.0}});
  CHECK(strategy->sums_gradients(1));
  CHECK_FALSE(strategy->sums_gradients(2));
  CHECK(averages(*strategy, 2) == std::vector<std::int64_t>{8, 16, 24, 32});
  CHECK(averages(*strategy, 3) == std::vector<std::int64_t>{16, 32});
}
