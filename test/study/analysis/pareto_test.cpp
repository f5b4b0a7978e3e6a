#include "convoke/study/analysis/pareto.hpp"

#include "rows.hpp"
#include "support/catch.hpp"

using namespace convoke::study;

namespace {

std::vector<Measurement> one(std::int64_t ranks, double seconds, double accuracy) {
  auto all = runs("sync", ranks, {seconds});
  all[0].accuracy = accuracy;
  return all;
}

}  // namespace

TEST_CASE(
    "a configuration is Pareto-optimal if no other is as good in time, cost and accuracy, and better in "
    "one") {
  auto crowded = one(16, 1, 0.99);
  crowded[0].marks = {"oversubscribed"};
  const auto configurations = configurations_of(one(1, 100, 0.90) +  // the cheapest
                                                one(2, 60, 0.90) +   // faster, for 120 core-seconds
                                                one(4, 60, 0.90) +   // as fast, but more expensive: dominated
                                                one(8, 70, 0.95) +   // the most accurate
                                                one(3, 110, 0.89) +  // worse than one rank in everything
                                                crowded);
  const auto points = pareto(configurations, {});
  REQUIRE(points.size() == 5);
  std::vector<bool> optimal;
  for (const ParetoPoint& point : points) optimal.push_back(point.optimal);
  CHECK(optimal == std::vector{true, true, false, true, false});
  CHECK(points[1].cost == 120);

  // By money, eight ranks on one node cost as much as one.
  PricedMachine machine;
  machine.name = "node";
  machine.price_per_hour = 36;
  const std::vector<PricedMachine> machines{machine};
  const auto priced = pareto(configurations, costs(configurations, machines, ""));
  REQUIRE(priced.size() == 5);
  CHECK(priced[0].machine == "node");
  CHECK(priced[0].cost == 1);
  CHECK_FALSE(priced[0].optimal);  // two ranks are faster and cheaper
  CHECK(priced[1].optimal);
  CHECK(priced[2].optimal);  // equal to two ranks in all three
  CHECK(priced[3].optimal);
  // A table without accuracies has no points.
  CHECK(pareto(configurations_of(runs("sync", 1, {1})), {}).empty());
}
