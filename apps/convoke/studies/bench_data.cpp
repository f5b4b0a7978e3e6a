#include "studies/bench_data.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <vector>

#include "cluster/start.hpp"
#include "convoke/core/error.hpp"
#include "convoke/core/text.hpp"
#include "convoke/engine/worker_team.hpp"
#include "convoke/metrics/json.hpp"
#include "convoke/mpi/session.hpp"
#include "convoke/os/clock.hpp"
#include "convoke/run/machine.hpp"
#include "studies/random_data.hpp"

namespace convoke::app {
namespace {

/// The buffers that a worker fills again and again.
struct Lane {
  std::vector<std::uint32_t> ids;
  std::vector<float> samples;
  std::vector<std::int32_t> tokens, labels, second;
  std::vector<float> shares;
  std::uint32_t epoch = 0;
};

void load(const data::BatchLoader& loader, std::uint64_t seed, Lane& lane) {
  if (loader.sample_type() == data::SampleType::kInt32) {
    loader.load_tokens(lane.ids, lane.tokens, lane.labels);
  } else {
    loader.load(lane.ids, lane.samples, {lane.labels, lane.second, lane.shares},
                {.seed = seed, .epoch = lane.epoch, .lane = static_cast<std::int64_t>(lane.ids.size())});
  }
}

}  // namespace

int bench_data(const BenchOptions& options) {
  // 1. Samples of the recipe's shape, and the buffers of a lane for each worker.
  const recipe::Recipe recipe = recipe::Recipe::load(options.recipe, options.changes);
  mpi::Session session;
  const mpi::Communicator& world = session.world();
  const int threads = settled(world, recipe.run.threads).threads_for(recipe.run.threads);
  const nn::Graph graph = recipe.graph();
  const std::int64_t size = recipe.lane(), count = RandomData::count_for(graph, size);
  const RandomData random(graph, count, recipe.seed);
  const data::BatchLoader loader = random.loader(augmenter_of(recipe));
  engine::WorkerTeam team(threads);
  std::vector<Lane> lanes(static_cast<std::size_t>(threads));
  for (Lane& lane : lanes) {
    const auto n = static_cast<std::size_t>(size);
    const auto values = n * static_cast<std::size_t>(graph.input_shape().elements());
    lane.ids.resize(n);
    lane.labels.resize(n);
    lane.second.resize(n);
    lane.shares.resize(n);
    loader.sample_type() == data::SampleType::kInt32 ? lane.tokens.resize(values)
                                                     : lane.samples.resize(values);
  }

  // 2. Rounds: every worker passes through the samples, lane after lane.
  const auto once = [&](int worker) {
    Lane& lane = lanes[static_cast<std::size_t>(worker)];
    for (std::int64_t first = 0; first < count; first += size) {
      std::iota(lane.ids.begin(), lane.ids.end(), static_cast<std::uint32_t>(first));
      load(loader, recipe.seed, lane);
    }
    ++lane.epoch;
  };
  std::vector<double> rates;
  team.run(once);  // until caches are warm
  for (int round = 0; round < options.rounds; ++round) {
    world.barrier();
    const os::Stopwatch watch;
    std::int64_t times = 0;
    for (; times == 0 || watch.seconds() < options.seconds; ++times) team.run(once);
    std::array<double, 1> rate{static_cast<double>(count * times * threads) / watch.seconds()};
    world.sum(rate);
    rates.push_back(rate[0]);
  }
  if (!world.root()) return EXIT_SUCCESS;

  // 3. Print the rate.
  std::sort(rates.begin(), rates.end());
  const double rate = rates[rates.size() / 2];
  const double bytes = rate * static_cast<double>(graph.input_shape().elements() * 4);
  const bool augmented = recipe.augment != data::AugmentOptions{};
  if (options.json) {
    fmt::print("{}\n", metrics::to_json(Settings{{"recipe", recipe.name},
                                                 {"ranks", world.size()},
                                                 {"threads", threads},
                                                 {"lane", size},
                                                 {"augmented", augmented},
                                                 {"samples_per_second", rate},
                                                 {"samples_per_second_best", rates.back()},
                                                 {"samples_per_second_worst", rates.front()},
                                                 {"written_bytes_per_second", bytes}}));
    return EXIT_SUCCESS;
  }
  fmt::print("{}: samples of shape {} to lanes of {}{}, {} x {}\n", recipe.name,
             graph.input_shape().to_string(), size, augmented ? ", augmented" : "",
             counted(world.size(), "rank"), counted(threads, "thread"));
  fmt::print("  samples/s          {:>10.0f}  (rounds from {:.0f} to {:.0f})\n", rate, rates.front(),
             rates.back());
  fmt::print("  MB/s               {:>10.0f}  written to the lanes\n", bytes / 1e6);
  return EXIT_SUCCESS;
}

}  // namespace convoke::app
