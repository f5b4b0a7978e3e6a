#include "studies/bench.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "cluster/start.hpp"
#include "convoke/core/random.hpp"
#include "convoke/core/text.hpp"
#include "convoke/engine/worker_team.hpp"
#include "convoke/metrics/json.hpp"
#include "convoke/mpi/session.hpp"
#include "convoke/mpi/together.hpp"
#include "convoke/os/clock.hpp"
#include "convoke/train/fit.hpp"

namespace convoke::app {

namespace {

// 2,048 samples of the size of ImageNet's are 300 MB. So each word gives four bytes, and a small bias of the
// numbers, which no benchmark notices, is accepted.

void fill(std::vector<std::uint8_t>& bytes, RandomStream& random) {
  std::uint32_t word = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i, word >>= 8) {
    if (i % 4 == 0) word = random.next_word();
    bytes[i] = static_cast<std::uint8_t>(word);
  }
}

/// Numbers from 0 to below - 1.
void fill(std::vector<std::int32_t>& values, std::int64_t below, RandomStream& random) {
  for (std::int32_t& value : values) {
    value = static_cast<std::int32_t>(random.next_word() * static_cast<std::uint64_t>(below) >> 32);
  }
}

/// Numbers in [0, 1).
void fill(std::vector<float>& values, RandomStream& random) {
  for (float& value : values) value = static_cast<float>(random.next_word() >> 8) * 0x1p-24F;
}

bool of_images(const nn::ValueSpec& input) {
  return input.type != nn::ValueType::kToken && input.rank() == 3;
}

}  // namespace

RandomData::RandomData(const nn::Graph& graph, std::int64_t count, std::uint64_t seed)
    : input_(graph.input_shape()) {
  RandomStream random({seed, Purpose::kBench, 0, 0});
  const auto values = static_cast<std::size_t>(count * input_.elements());
  if (input_.type == nn::ValueType::kToken) {
    tokens_.resize(values);
    fill(tokens_, train::least_vocabulary(graph).value(), random);
  } else if (of_images(input_)) {
    bytes_.resize(values);
    fill(bytes_, random);
  } else {
    numbers_.resize(values);
    fill(numbers_, random);
  }
  labels_.resize(static_cast<std::size_t>(count));
  fill(labels_, std::max<std::int64_t>(2, graph.output_shape().elements()), random);
}

data::BatchLoader RandomData::loader(std::shared_ptr<const data::Augmenter> augmenter) const {
  data::DatasetInfo info;
  info.sample_shape = input_;
  if (!bytes_.empty()) {
    return {{bytes_, labels_}, input_, data::normalization_from("unit", info), std::move(augmenter)};
  }
  info.sample_type = tokens_.empty() ? data::SampleType::kFloat32 : data::SampleType::kInt32;
  const data::Normalization as_it_is = data::normalization_from("none", info);
  if (!tokens_.empty()) return {{tokens_, labels_}, input_, as_it_is};
  return {{numbers_, labels_}, input_, as_it_is};
}

std::int64_t RandomData::count_for(const nn::Graph& graph, std::int64_t batch) {
  constexpr std::int64_t kSamples = 2048, kBytes = 32 << 20;
  const nn::ValueSpec input(graph.input_shape());
  const std::int64_t sample_bytes = input.elements() * (of_images(input) ? 1 : 4);
  return std::max<std::int64_t>(1, std::min(kSamples, kBytes / sample_bytes) / batch) * batch;
}

std::shared_ptr<const data::Augmenter> augmenter_of(const recipe::Recipe& recipe) {
  if (!recipe.augment.changes_anything()) return nullptr;
  return std::make_shared<const data::Augmenter>(recipe.augment, Shape(recipe.model.input),
                                                 data::SampleType::kUint8);
}

namespace {

/// The buffers that a worker fills again and again.
struct MicroBatch {
  std::vector<std::uint32_t> ids;
  std::vector<float> samples;
  std::vector<std::int32_t> tokens, labels, second;
  std::vector<float> shares;
  std::uint32_t epoch = 0;
};

void load(const data::BatchLoader& loader, std::uint64_t seed, MicroBatch& micro_batch) {
  if (loader.sample_type() == data::SampleType::kInt32) {
    loader.load_tokens(micro_batch.ids, micro_batch.tokens, micro_batch.labels);
  } else {
    loader.load(micro_batch.ids, micro_batch.samples,
                {micro_batch.labels, micro_batch.second, micro_batch.shares},
                {.seed = seed,
                 .epoch = micro_batch.epoch,
                 .micro_batch = static_cast<std::int64_t>(micro_batch.ids.size())});
  }
}

}  // namespace

int bench_data(const BenchOptions& options) {
  // 1. Samples of the recipe's shape, and the buffers of a micro-batch for each worker.
  const recipe::Recipe recipe = recipe::Recipe::load(options.recipe, options.changes);
  mpi::Session session;
  const mpi::Communicator& world = session.world();
  const int threads =
      bound_machine(world, recipe.run.execution.threads).threads_for(recipe.run.execution.threads);
  const nn::Graph graph = recipe.graph();
  const std::int64_t size = recipe.micro_batch(), count = RandomData::count_for(graph, size);
  const RandomData random(graph, count, recipe.seed);
  const data::BatchLoader loader = random.loader(augmenter_of(recipe));
  engine::WorkerTeam team(threads);
  std::vector<MicroBatch> micro_batches(static_cast<std::size_t>(threads));
  for (MicroBatch& micro_batch : micro_batches) {
    const auto n = static_cast<std::size_t>(size);
    const auto values = n * static_cast<std::size_t>(graph.input_shape().elements());
    micro_batch.ids.resize(n);
    micro_batch.labels.resize(n);
    micro_batch.second.resize(n);
    micro_batch.shares.resize(n);
    loader.sample_type() == data::SampleType::kInt32 ? micro_batch.tokens.resize(values)
                                                     : micro_batch.samples.resize(values);
  }

  // 2. Rounds: every worker passes through the samples, micro-batch after micro-batch.
  const auto once = [&](int worker) {
    MicroBatch& micro_batch = micro_batches[static_cast<std::size_t>(worker)];
    for (std::int64_t first = 0; first < count; first += size) {
      std::iota(micro_batch.ids.begin(), micro_batch.ids.end(), static_cast<std::uint32_t>(first));
      load(loader, recipe.seed, micro_batch);
    }
    ++micro_batch.epoch;
  };
  std::vector<double> rates;
  team.run(once);  // until caches are warm
  for (int round = 0; round < options.rounds; ++round) {
    world.barrier();
    const os::Stopwatch watch;
    std::int64_t times = 0;
    for (; times == 0 || watch.seconds() < options.seconds; ++times) team.run(once);
    rates.push_back(mpi::sum_of(world, static_cast<double>(count * times * threads) / watch.seconds()));
  }
  if (!world.root()) return EXIT_SUCCESS;

  // 3. Print the rate.
  std::ranges::sort(rates);
  const double rate = rates[rates.size() / 2];
  const double bytes = rate * static_cast<double>(graph.input_shape().elements() * 4);
  const bool augmented = recipe.augment.changes_anything();
  if (options.json) {
    fmt::print("{}\n", metrics::to_json(Settings{{"recipe", recipe.name},
                                                 {"ranks", world.size()},
                                                 {"threads", threads},
                                                 {"micro_batch", size},
                                                 {"augmented", augmented},
                                                 {"samples_per_second", rate},
                                                 {"samples_per_second_best", rates.back()},
                                                 {"samples_per_second_worst", rates.front()},
                                                 {"written_bytes_per_second", bytes}}));
    return EXIT_SUCCESS;
  }
  fmt::print("{}: samples of shape {} to micro-batches of {}{}, {} x {}\n", recipe.name,
             graph.input_shape().to_string(), size, augmented ? ", augmented" : "",
             counted(world.size(), "rank"), counted(threads, "thread"));
  fmt::print("  samples/s          {:>10.0f}  (rounds from {:.0f} to {:.0f})\n", rate, rates.front(),
             rates.back());
  fmt::print("  MB/s               {:>10.0f}  written to the micro-batches\n", bytes / 1e6);
  return EXIT_SUCCESS;
}

}  // namespace convoke::app
