#include "convoke/engine/gradient_sums.hpp"

#include "convoke/core/timeline.hpp"
#include "support/catch.hpp"
#include "support/world.hpp"

// Sums over workers, ranks and nodes. A test puts ranks of this machine on several nodes by splitting them.

using namespace convoke;
using namespace convoke::engine;

namespace {

constexpr std::size_t kSize = 1003;

/// A whole number, so that sums are exact in any order.
double worker_gradient(int worker, std::size_t i, int step) {
  return static_cast<double>(i % 97) * (worker + 1) + step - worker;
}

/// Returns the sum of worker_gradient() over workers 0..n-1.
double sum_of_worker_gradients(int n, std::size_t i, int step) {
  double sum = 0;
  for (int worker = 0; worker < n; ++worker) sum += worker_gradient(worker, i, step);
  return sum;
}

/// Fills the sums of this rank's worker `worker` in pieces, as backward does. `number`: of the worker in the
/// group.
void fill(const WorkerSums& sums, int number, int step, const std::function<void()>& progress) {
  const std::uint64_t before = sums.completion->count();
  for (std::size_t end = 0; end < kSize;) {
    const std::size_t begin = end;
    end = std::min(kSize, begin + 100);
    for (std::size_t i = begin; i < end; ++i) {
      if (sums.fixed.empty()) {
        sums.floats[i] = static_cast<float>(worker_gradient(number, i, step));
      } else {
        sums.fixed[i] = static_cast<std::int64_t>(worker_gradient(number, i, step));
      }
    }
    sums.completion->publish(before + end);
    progress();
  }
}

std::ptrdiff_t flights_in(const Timeline& timeline) {
  std::ptrdiff_t flights = 0;
  for (const auto& track : timeline.tracks()) {
    for (std::size_t i = 0; i < track->steps().size(); ++i)
      flights += track->steps()[i].activity == Activity::kFlight ? 1 : 0;
  }
  return flights;
}

}  // namespace

TEST_CASE("sums over workers, ranks and nodes, for nodes of equal and of different sizes") {
  const int ranks = world().size();
  // The number of the first rank of the second node; all ranks are on one node if there is no such rank.
  for (int second_node = 1; second_node <= ranks; ++second_node) {
    std::ptrdiff_t unthreaded_flights = 0;
    for (const auto& [exact, threaded] :
         {std::pair(false, false), {false, true}, {true, false}, {true, true}}) {
      CAPTURE(second_node, exact, threaded);
      const mpi::Communicator node = world().split(world().rank() < second_node ? 0 : 1, world().rank());
      // Rank r has r % 2 + 1 workers.
      const int workers = world().rank() % 2 + 1;
      int all = 0, first = 0;
      for (int rank = 0; rank < ranks; ++rank) {
        if (rank == world().rank()) first = all;
        all += rank % 2 + 1;
      }
      Timeline timeline(1 << 10);
      const Timeline::Use use(timeline);
      ModelMemory memory(node, {.parameters = 1, .sums = kSize, .exact = exact}, workers);
      NodeTeam team(memory, {.workers = workers});
      std::optional<GradientSums> owner;
      GradientSums& sums =
          owner.emplace(memory, team, world(), 0,
                        sync::ExchangeOptions{.bucket_bytes = 512,
                                              .progress_thread_bytes =
                                                  threaded ? std::optional<std::size_t>(0) : std::nullopt});
      CHECK(sums.overlaps() == (second_node < ranks));
      for (int step = 0; step < 3; ++step) {
        sums.begin_step();
        team.mine().run([&](int worker) {
          const auto progress = [&] {
            if (worker == 0 && sums.overlaps()) sums.advance();
          };
          fill(memory.sums(memory.first_worker() + worker), first + worker, step, progress);
        });
        sums.finish();
        std::size_t wrong = 0;
        for (std::size_t i = 0; i < kSize; ++i) {
          const double sum =
              exact ? static_cast<double>(sums.fixed()[i]) : static_cast<double>(sums.floats()[i]);
          wrong += sum != sum_of_worker_gradients(all, i, step);
        }
        CHECK(wrong == 0);
        memory.barrier();  // as after the update: then the arrays may change
      }
      owner.reset();  // ends its thread
      if (!threaded) unthreaded_flights = flights_in(timeline);
      CHECK(flights_in(timeline) == unthreaded_flights);
    }
  }
}
