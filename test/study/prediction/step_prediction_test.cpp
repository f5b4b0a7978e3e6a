#include "convoke/study/prediction/step_prediction.hpp"

#include "convoke/core/settings.hpp"
#include "support/catch.hpp"
#include "support/error_of.hpp"

// The expected times follow from the sizes and the speed of the links.

using namespace convoke;
using namespace convoke::study;
using enum convoke::study::Scaling;

namespace {

constexpr std::size_t kBucket = 250'000;  // floats, 1 MB

// 16 micro-batches of 10 ms each and 2 ms for the update; two buckets of 1 MB, complete 6 ms before the end
// and at the end. Backward calls the library every 10 us.
StepProfile profile() {
  StepProfile profile{.micro_batches = 16,
                      .batch = 128,
                      .update_seconds = 0.002,
                      .sums = {.elements = 2 * kBucket, .bf16_elements = 2 * kBucket},
                      .options = {.bucket_bytes = 1'000'000}};
  for (const std::int64_t micro_batches : {1, 2, 3, 4, 6, 8, 16}) {
    profile.compute.push_back({micro_batches, 0.01 * static_cast<double>(micro_batches)});
  }
  for (int i = 0; i < 600; ++i) profile.backward.push_back({kBucket, 6e-3 - i * 1e-5});
  return profile;
}

Cluster network(double bytes_per_second, double latency = 0) {
  return {.ranks_per_node = 1, .link = {latency, bytes_per_second}};
}

// To the 10 us after which backward calls the library again, for each message.
Approx near(double seconds) { return Approx(seconds).margin(3e-5); }

double exposed(const StepProfile& profile, const Cluster& cluster, int ranks) {
  return predict_step(profile, cluster, ranks, kStrong).exposed_seconds;
}

double summing(const StepProfile& profile, const Cluster& cluster, int ranks) {
  return predict_step(profile, cluster, ranks, kStrong).summing_seconds;
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
  CHECK(step.micro_batches == 3);
  CHECK(step.seconds() == near(0.032));
  CHECK(step.efficiency == Approx(0.162 / 0.032 / 6));
}

TEST_CASE("two ranks exchange a half of each bucket in each direction, one bucket after the other") {
  // Half of 1 MB at 1 GB/s: 0.5 ms there, 0.5 ms back. The first bucket is done 5 ms before the end.
  CHECK(exposed(profile(), network(1e9), 2) == near(1e-3));
  // At 100 MB/s, 10 ms for each bucket: done at 4 and 14 ms.
  CHECK(exposed(profile(), network(1e8), 2) == near(14e-3));
  // Latency counts once for each way of a bucket.
  CHECK(exposed(profile(), network(1e9, 1e-4), 2) == near(1.2e-3));
}

TEST_CASE(
    "slices take a message each way, halving and doubling a round per doubling and more for other numbers") {
  const Cluster cluster = network(1e9, 1e-5);
  CHECK(exposed(profile(), cluster, 16) == near(2 * (15.0 / 16 * 1e-3 + 1e-5)));
  CHECK(exposed(profile(), cluster, 32) == near(2 * (31.0 / 32 * 1e-3 + 5e-5)));
  CHECK(exposed(profile(), network(1e9), 6) == near(2 * 5.0 / 6 * 1e-3));
  // The 8 ranks that belong to no pair are ahead, so their last sixteenth delays what others need earlier.
  CHECK(exposed(profile(), network(1e9), 24) == near((2 * (1 + 15.0 / 16) + 1.0 / 16) * 1e-3));
}

TEST_CASE("the ranks of a node add a slice each, and share its link") {
  Cluster cluster = network(1e9);
  cluster.ranks_per_node = 2;
  StepProfile adding = profile();
  adding.add_seconds_per_byte = 1e-10;
  // On one node there is only the sum of two ranks' values, half of them by each rank.
  CHECK(exposed(adding, cluster, 2) == near(0));
  CHECK(summing(adding, cluster, 2) == Approx(1e6 * 1e-10));
  // On two nodes half of the bytes cross the link each way. The second leader's slice is complete when the
  // first leader, which has added its own before, has computed the rest.
  CHECK(exposed(adding, cluster, 4) == near(1e-3 + 1e-4));
  CHECK(summing(adding, cluster, 4) == Approx(1e6 * 1e-10));
  // With three ranks the second node has one leader, so each node has.
  CHECK(summing(adding, cluster, 3) == Approx(2e6 * 1e-10));
  // With less memory than the model needs, each rank is a node for the sums, but they still share the link.
  adding.shares_memory = false;
  CHECK(exposed(adding, cluster, 4) > 1.9e-3);
}

TEST_CASE("computation cannot hide what the core does for messages") {
  Cluster cluster = network(1e9);
  cluster.link.core_seconds_per_byte = 0.25e-9;
  CHECK(summing(profile(), cluster, 2) == Approx(2 * 1e6 * 0.25e-9));
  cluster.link.core_seconds_per_byte = 0;
  cluster.link.core_seconds_per_message = 1e-6;
  // To three others, in two phases of two buckets; in 5 + 5 rounds of two buckets.
  CHECK(summing(profile(), cluster, 4) == Approx(12e-6));
  CHECK(summing(profile(), cluster, 32) == Approx(20e-6));
  StepProfile copying = profile();
  copying.copy_seconds_per_byte = 1e-10;
  CHECK(summing(copying, network(1e9), 2) == Approx(3 * 2e6 * 1e-10));
}

TEST_CASE("the library's rounds wait for the next call") {
  StepProfile silent = profile();
  silent.backward = {{kBucket, 6e-3}};
  // Without calls, only the first of ten rounds of the first bucket is over when backward ends.
  CHECK(exposed(silent, network(1e9), 32) > exposed(profile(), network(1e9), 32) + 1e-3);
}

TEST_CASE("bf16 halves what is sent, and fixed point is sent packed") {
  StepProfile rounded = profile();
  rounded.options.wire = sync::Wire::kBfloat16;
  // 2.5 ms each way: the first bucket is done before the end.
  CHECK(exposed(rounded, network(1e8), 2) == near(5e-3));
  rounded.sums.bf16_elements = 0;
  CHECK(exposed(rounded, network(1e8), 2) == near(14e-3));
  // Four buckets of 125,008 numbers, 5.3 ms each: one is over before the end, three begin there.
  StepProfile exact = profile();
  exact.sums.fixed = true;
  CHECK(exposed(exact, network(1e8), 2) == near(15.94e-3));
}

TEST_CASE("the ranks of a node divide the update if they share the model") {
  Cluster cluster = network(1e18);
  cluster.ranks_per_node = 4;
  CHECK(predict_step(profile(), cluster, 4, kStrong).compute_seconds == Approx(0.04 + 0.0005));
  StepProfile apart = profile();
  apart.shares_memory = false;
  CHECK(predict_step(apart, cluster, 4, kStrong).compute_seconds == Approx(0.04 + 0.002));
}

TEST_CASE("faster cores compute and update faster, but hide less") {
  const StepPrediction step = predict_step(at_speed(profile(), 2), network(1e8), 2, kStrong);
  CHECK(step.compute_seconds == Approx(0.041));
  CHECK(step.exposed_seconds == near(17e-3));
}

TEST_CASE("ranks that average their models exchange only after some steps") {
  StepProfile local = profile();
  local.averaging = Averaging{.every = 4, .floats = kBucket, .sums = 3};
  // Three sums, each half of 1 MB there and back.
  const StepPrediction step = predict_step(local, network(1e9), 2, kStrong);
  CHECK(step.exposed_seconds == near(3e-3 / 4));
  CHECK(step.compute_seconds == Approx(0.082));
  local.averaging->every = 0;
  CHECK(exposed(local, network(1e9), 2) == 0);
}

TEST_CASE("a strategy says when the models are averaged for the first time") {
  const auto steps = [](const Settings& settings, std::int64_t epoch) {
    return steps_to_average(*sync::make_strategy(settings), epoch);
  };
  CHECK(steps({{"name", "local-sgd"}, {"every", 8}}, 0) == 8);
  CHECK(steps({{"name", "local-sgd"}, {"every", 2}, {"growth", 2.0}}, 3) == 16);
  CHECK(steps({{"name", "none"}}, 0) == 0);
}

TEST_CASE("1,024 ranks are simulated, on few nodes and on many") {
  StepProfile large = profile();
  large.backward.clear();
  for (int i = 0; i < 60; ++i) large.backward.push_back({kBucket, 6e-3 - i * 1e-4});
  for (const int on_node : {1, 64}) {
    Cluster cluster = network(1e9, 1e-5);
    cluster.ranks_per_node = on_node;
    const StepPrediction step = predict_step(large, cluster, 1024, kStrong);
    // The last bucket crosses a link there and back: 1 MB, or the parts of 64 leaders, which have no second
    // one.
    CHECK(step.exposed_seconds >= 2 * 0.93e-3);
    CHECK(step.exposed_seconds < 2 * 2.1e-3);
  }
}

TEST_CASE("in weak scaling every rank computes as much as one rank") {
  const StepPrediction step = predict_step(profile(), network(1e18), 100, kWeak);
  CHECK(step.seconds() == near(0.162));
  CHECK(step.speedup == Approx(100).epsilon(1e-3));
  CHECK(step.efficiency == Approx(1).epsilon(1e-3));
}

TEST_CASE(
    "the required micro-batch counts are known, missing ones are an error, and the worst scatter counts") {
  CHECK(needed_micro_batches(16, std::vector<int>{1, 2, 3, 5, 16, 1024}, kStrong) ==
        std::vector<std::int64_t>{1, 4, 6, 8, 16});
  StepProfile lacking = profile();
  lacking.compute.pop_back();
  CHECK(error_of([&] { predict_step(lacking, network(1e9), 1, kStrong); }) ==
        "the step of a rank with 16 micro-batches was not measured");
  StepProfile profile;
  CHECK(profile.scatter() == 0);
  profile.compute = {{.micro_batches = 1, .seconds = 1, .scatter = 0.1},
                     {.micro_batches = 2, .seconds = 2, .scatter = 0.3}};
  CHECK(profile.scatter() == 0.3);
}
