#include "convoke/study/analysis/step_model.hpp"

#include "support/catch.hpp"
#include "support/error_of.hpp"

using namespace convoke::study;
using Catch::Approx;
using enum convoke::study::Scaling;

namespace {

// 16 lanes of 10 ms each and 2 ms for the update; two buckets of 1 MB, complete 6 ms before the end and at
// the end.
StepProfile profile() {
  StepProfile profile{.lanes = 16, .batch = 128, .buckets = {{1e6, 6e-3}, {1e6, 0}}};
  for (const std::int64_t lanes : {1, 2, 3, 4, 6, 8, 16}) {
    profile.compute.push_back({lanes, 0.01 * static_cast<double>(lanes) + 0.002});
  }
  return profile;
}

Cluster network(double bytes_per_second, double latency = 0) {
  return {.ranks_per_node = 1, .link = {latency, bytes_per_second, 0}};
}

}  // namespace

TEST_CASE("one rank exchanges nothing") {
  const StepPrediction step = predict_step(profile(), network(1), 1, kStrong);
  CHECK(step.seconds() == Approx(0.162));
  CHECK(step.speedup == 1);
  CHECK(step.images_per_second == Approx(128 / 0.162));
}

TEST_CASE("with an infinitely fast network, the step takes the computation of the busiest rank") {
  const StepPrediction step = predict_step(profile(), network(1e18), 6, kStrong);
  CHECK(step.lanes == 3);
  CHECK(step.seconds() == Approx(0.032));
  CHECK(step.efficiency == Approx(0.162 / 0.032 / 6));
}

TEST_CASE("two ranks exchange a half of each bucket in each direction, one bucket after the other") {
  // Half of 1 MB at 1 GB/s: 0.5 ms there, 0.5 ms back. The first bucket is done 5 ms before the end.
  CHECK(predict_step(profile(), network(1e9), 2, kStrong).exposed_seconds == Approx(1e-3));
  // At 100 MB/s, 10 ms for each bucket: done at 4 and 14 ms.
  CHECK(predict_step(profile(), network(1e8), 2, kStrong).exposed_seconds == Approx(14e-3));
  // Latency counts once for each way of a bucket.
  CHECK(predict_step(profile(), network(1e9, 1e-4), 2, kStrong).exposed_seconds == Approx(1.2e-3));
}

TEST_CASE("slices take one message each way; halving and doubling a round per doubling") {
  Cluster cluster = network(1e9, 1e-5);
  CHECK(predict_step(profile(), cluster, 16, kStrong).exposed_seconds ==
        Approx(2 * (15.0 / 16 * 1e-3 + 1e-5)));
  cluster.algorithm = SumAlgorithm::kRabenseifner;
  const double way = (0.5 + 0.25 + 0.125 + 0.0625) * 1e-3 + 4e-5;
  CHECK(predict_step(profile(), cluster, 16, kStrong).exposed_seconds == Approx(2 * way));
}

TEST_CASE("ranks beyond a power of two make halving and doubling send more") {
  Cluster cluster = network(1e9);
  CHECK(predict_step(profile(), cluster, 6, kStrong).exposed_seconds == Approx(2 * 5.0 / 6 * 1e-3));
  cluster.algorithm = SumAlgorithm::kRabenseifner;
  CHECK(predict_step(profile(), cluster, 8, kStrong).exposed_seconds == Approx(2 * 7.0 / 8 * 1e-3));
  CHECK(predict_step(profile(), cluster, 6, kStrong).exposed_seconds == Approx(2 * (1 + 3.0 / 4) * 1e-3));
}

TEST_CASE(
    "the ranks of a node add a slice each, and share its link; computation cannot hide the core's work") {
  Cluster cluster = network(1e9);
  cluster.ranks_per_node = 2;
  StepProfile adding = profile();
  adding.add_seconds_per_byte = 1e-10;
  // On one node there is only the sum of two ranks' values, half of them by each rank.
  CHECK(predict_step(adding, cluster, 2, kStrong).exposed_seconds == 0);
  CHECK(predict_step(adding, cluster, 2, kStrong).summing_seconds == Approx(2 * 1e6 / 2 * 1e-10));
  // On two nodes half of the bytes cross the link each way, and half of them are added once more.
  CHECK(predict_step(adding, cluster, 4, kStrong).exposed_seconds == Approx(1e-3));
  CHECK(predict_step(adding, cluster, 4, kStrong).summing_seconds == Approx(1.5 * 1e6 * 1e-10));
  // With three ranks the second node has one leader, so each node has.
  CHECK(predict_step(adding, cluster, 3, kStrong).summing_seconds == Approx(2 * 1.5 * 1e6 * 1e-10));
  cluster.link.core_seconds_per_byte = 0.25e-9;
  CHECK(predict_step(profile(), cluster, 4, kStrong).summing_seconds == Approx(2 * 1e6 * 0.25e-9 / 2));
}

TEST_CASE("in weak scaling every rank computes as much as one rank") {
  const StepPrediction step = predict_step(profile(), network(1e18), 1000, kWeak);
  CHECK(step.seconds() == Approx(0.162));
  CHECK(step.speedup == Approx(1000));
  CHECK(step.efficiency == Approx(1));
}

TEST_CASE("the scatter of a profile is that of its worst lane count") {
  StepProfile profile;
  CHECK(profile.scatter() == 0);
  profile.compute = {{.lanes = 1, .seconds = 1, .scatter = 0.1}, {.lanes = 2, .seconds = 2, .scatter = 0.3}};
  CHECK(profile.scatter() == 0.3);
}

TEST_CASE("the required lane counts are known, and missing ones are an error") {
  CHECK(needed_lanes(16, std::vector<int>{1, 2, 3, 5, 16, 1024}, kStrong) ==
        std::vector<std::int64_t>{1, 4, 6, 8, 16});
  StepProfile lacking = profile();
  lacking.compute.pop_back();
  CHECK(error_of([&] { predict_step(lacking, network(1e9), 1, kStrong); }) ==
        "the step of a rank with 16 lanes was not measured");
}
