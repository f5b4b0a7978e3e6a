#include "convoke/engine/moments_exchange.hpp"

#include "convoke/engine/worker_team.hpp"
#include "support/catch.hpp"
#include "support/error_of.hpp"
#include "support/world.hpp"

using namespace convoke;
using namespace convoke::engine;

namespace {

const std::function<void()> kNothing = [] {};

double moment(int rank, int worker, int micro_batch, std::size_t i) {
  return std::sin(100.0 * rank + 10.0 * worker + micro_batch) * std::ldexp(1.0, static_cast<int>(i) - 20);
}

}  // namespace

TEST_CASE("moments are summed over micro-batches, workers and ranks, some without a micro-batch") {
  constexpr std::size_t kCount = 40;
  constexpr int kWorkers = 3, kMicroBatches = 2, kIdle = 1;  // worker kIdle of every rank has no micro-batch
  for (const bool exact : {false, true}) {
    MomentsExchange exchange(world(), kWorkers, 100, exact);
    WorkerTeam team(kWorkers);
    std::vector<double> expected(kCount);
    for (int rank = 0; rank < world().size(); ++rank) {
      for (const int worker : {0, 2}) {
        for (int micro_batch = 0; micro_batch < kMicroBatches; ++micro_batch) {
          for (std::size_t i = 0; i < kCount; ++i) expected[i] += moment(rank, worker, micro_batch, i);
        }
      }
    }
    std::vector<std::vector<double>> sums(kWorkers, std::vector<double>(kCount));
    for (int step = 0; step < 3; ++step) {
      exchange.begin_step();
      team.run([&](int worker) {
        for (const std::size_t count : {kCount, std::size_t{3}, kCount}) {  // several in a step
          std::vector<double> moments(count);
          for (int micro_batch = 0; worker != kIdle && micro_batch < kMicroBatches; ++micro_batch) {
            for (std::size_t i = 0; i < count; ++i)
              moments[i] = moment(world().rank(), worker, micro_batch, i);
            exchange.add(worker, moments);
          }
          exchange.sum(worker, count, kNothing);
          exchange.read(std::span(sums[static_cast<std::size_t>(worker)]).first(count));
        }
      });
      for (const std::vector<double>& sum : sums) {
        for (std::size_t i = 0; i < kCount; ++i)
          CHECK(sum[i] == Approx(expected[i]).epsilon(1e-9).margin(1e-14));
      }
    }
  }
}

TEST_CASE("a moment that is not finite makes the sum NaN on all ranks") {
  for (const bool exact : {false, true}) {
    MomentsExchange exchange(world(), 1, 100, exact);
    exchange.begin_step();
    exchange.add(0, std::vector<double>{1, world().root() ? std::nan("") : 1});
    exchange.sum(0, 2, kNothing);
    std::vector<double> sum(2);
    exchange.read(sum);
    CHECK(std::isnan(sum[1]));
  }
}

TEST_CASE("more micro-batches than can be summed exactly are refused") {
  CHECK(error_of([&] { MomentsExchange(world(), 1, 65537, true); }) ==
        "a step has 65537 micro-batches, but synchronized batch norms can sum at most 65536 exactly");
  CHECK(error_of([&] { MomentsExchange(world(), 1, 65537, false); }).empty());
}
