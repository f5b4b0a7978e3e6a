#include "convoke/engine/load_balancer.hpp"

#include "convoke/core/random.hpp"
#include "convoke/engine/step_engine.hpp"
#include "engine/engine_options.hpp"
#include "support/catch.hpp"
#include "support/differences.hpp"
#include "support/slow_loss.hpp"
#include "support/tiny.hpp"
#include "support/world.hpp"

// Ranks of unlike speed: the micro-batches that each gets, and what does not depend on it.

using namespace convoke;
using namespace convoke::engine;

namespace {

/// The micro-batches of each rank in the last of some full steps, and how often the shares changed.
struct Course {
  std::vector<std::int64_t> counts;
  int changes = 0;
};

/// Takes `steps` steps. `seconds(rank, step)`: time of a micro-batch.
template <class Seconds>
Course course(LoadBalancer& balance, std::int64_t micro_batches, const mpi::Communicator& group, int steps,
              const Seconds& seconds) {
  MicroBatchShares shares(group.size());
  Course course;
  for (int step = 0; step < steps; ++step) {
    if (const auto better = balance.after_step(seconds(group.rank(), step))) {
      shares = *better;
      ++course.changes;
    }
  }
  for (int rank = 0; rank < group.size(); ++rank)
    course.counts.push_back(shares.micro_batches(micro_batches, rank).count);
  return course;
}

EngineOptions balanced_options(Reduction reduction, int threads, bool slow) {
  EngineOptions options = engine::options(reduction, threads);
  if (slow) options.loss = std::make_shared<const tiny::SlowLoss>();
  return options;
}

/// The result of some steps of 32 samples and a last one of 21.
struct Balanced {
  std::vector<float> parameters;
  std::vector<std::int64_t> counts;  ///< micro-batches of the ranks in a full step, at the end
  bool has_plan = false;             ///< this rank, after the last step
};

Balanced trained_balanced(const nn::Graph& graph, const mpi::Communicator& group,
                          const EngineOptions& options) {
  const EngineTask task(128, {{"name", "sgd"}, {"momentum", 0.9}}, graph);
  StepEngine engine = task.engine(options, group);
  const std::vector<std::uint32_t>& ids = task.ids;
  for (int i = 0; i < 9; ++i) {
    engine.step(static_cast<std::uint32_t>(i / 4),
                std::span(ids).subspan(static_cast<std::size_t>(i % 4) * 32, 32), 0.02);
    if (i == 2) engine.step(98, std::span(ids).first(13), 0.02);
  }
  engine.step(99, std::span(ids).first(21), 0.02);
  Balanced result{unpack(canonical_parameters(graph), engine.layout(), engine.parameters()),
                  {},
                  engine.plan() != nullptr};
  for (int rank = 0; rank < group.size(); ++rank)
    result.counts.push_back(engine.shares().micro_batches(8, rank).count);
  return result;
}

}  // namespace

TEST_CASE("a slow rank gets fewer micro-batches once, and all ranks know it") {
  const mpi::Communicator group = world();
  const int slow = group.size() - 1;
  LoadBalancer balance(40, 1, group);
  const auto seconds = [&](int rank, int step) {
    if (step == 0) return 1.0;  // compiles plans, on all ranks
    RandomStream random(
        {1, Purpose::kBench, static_cast<std::uint32_t>(rank), static_cast<std::uint32_t>(step)});
    return (rank == slow ? 4e-3 : 1e-3) * (0.9 + 0.2 * random.uniform());
  };
  const Course now = course(balance, 40, group, 2000, seconds);
  if (group.size() == 1) {
    CHECK(now.counts == std::vector<std::int64_t>{40});
    return;
  }
  CHECK(now.changes == 1);
  // In proportion to the speeds: 1 / (4 (ranks - 1) + 1) of 40 micro-batches, up to the scatter of the times.
  const double share = 40.0 / (4 * (group.size() - 1) + 1);
  CHECK(std::abs(static_cast<double>(now.counts.back()) - share) <= 1);

  std::vector<double> most(now.counts.begin(), now.counts.end()), least = most;
  group.max(most);
  group.min(least);
  CHECK(most == least);
}

TEST_CASE("times that scatter change nothing, and a rank that becomes fast gets its micro-batches back") {
  const mpi::Communicator group = world();
  LoadBalancer steady(16, 2, group);
  const auto scattered = [](int rank, int step) {
    RandomStream random(
        {2, Purpose::kBench, static_cast<std::uint32_t>(rank), static_cast<std::uint32_t>(step)});
    return 1e-3 * (0.8 + 0.4 * random.uniform());
  };
  CHECK(course(steady, 16, group, 3000, scattered).changes == 0);

  LoadBalancer balance(12, 1, group);  // a multiple of 1, 2, 3 and 4
  const auto recovers = [&](int rank, int step) { return rank == 0 && step < 100 ? 5e-3 : 1e-3; };
  const Course after = course(balance, 12, group, 3000, recovers);
  CHECK(after.counts == std::vector<std::int64_t>(after.counts.size(), 12 / group.size()));
  CHECK(after.changes <= 6);
  if (group.size() > 1) CHECK(after.changes >= 2);
}

TEST_CASE("exact: the bits do not depend on the shares of the ranks") {
  const mpi::Communicator group = world(), alone = group.split(group.rank(), 0);
  const bool slow = group.rank() == group.size() - 1;
  for (const nn::Graph& graph : {tiny::graph(), normalized(true)}) {
    const std::vector<float> expected =
        trained_balanced(graph, alone, balanced_options(Reduction::kExact, 1, false)).parameters;
    for (const int threads : {1, 2}) {
      for (const bool share_node : {true, false}) {
        EngineOptions balanced = balanced_options(Reduction::kExact, threads, slow && group.size() > 1);
        balanced.balance = true;
        balanced.sharing = share_node ? engine::ModelSharing::kHost : engine::ModelSharing::kNone;
        const Balanced result = trained_balanced(graph, group, balanced);
        CHECK(result.parameters == expected);
        CHECK(result.has_plan);
        const bool divided =
            group.size() > 1 && !(share_node && !nn::synchronizes(graph));  // else: WorkQueue
        if (divided) CHECK(result.counts.back() <= threads);  // one micro-batch for each of its workers
      }
    }
  }
}

TEST_CASE("fast: other shares of the ranks change the rounding alone") {
  const mpi::Communicator group = world(), alone = group.split(group.rank(), 0);
  const bool slow = group.rank() == group.size() - 1;
  for (const nn::Graph& graph : {tiny::graph(), normalized(true)}) {
    const std::vector<float> expected =
        trained_balanced(graph, alone, balanced_options(Reduction::kFast, 1, false)).parameters;
    EngineOptions balanced = balanced_options(Reduction::kFast, 1, slow && group.size() > 1);
    balanced.balance = true;
    balanced.sharing = engine::ModelSharing::kNone;
    const Balanced result = trained_balanced(graph, group, balanced);
    CHECK(largest_difference(result.parameters, expected) < 1e-4);
    if (group.size() > 1) CHECK(result.counts.back() == 1);
  }
}

TEST_CASE("with at most one micro-batch for each rank, nothing is balanced") {
  const mpi::Communicator group = world();
  const int ranks = group.size();
  EngineOptions few = balanced_options(Reduction::kExact, 1, group.rank() == 0);
  few.balance = true;
  few.micro_batch = 32;
  const Balanced result = trained_balanced(tiny::graph(), group, few);
  std::vector<std::int64_t> equal;
  for (int rank = 0; rank < ranks; ++rank)
    equal.push_back(MicroBatchShares(ranks).micro_batches(8, rank).count);
  CHECK(result.counts == equal);
}
