#include "studies/step_profile.hpp"

#include <algorithm>
#include <cmath>

#include "convoke/core/timeline.hpp"
#include "convoke/engine/replica.hpp"
#include "convoke/engine/worker.hpp"
#include "convoke/mpi/together.hpp"
#include "convoke/optim/optimizer.hpp"
#include "convoke/os/clock.hpp"
#include "convoke/recipe/job.hpp"
#include "convoke/study/analysis/statistics.hpp"
#include "convoke/sync/ordered_sum.hpp"
#include "convoke/sync/packed_sum.hpp"
#include "convoke/sync/strategy.hpp"
#include "convoke/train/samples.hpp"
#include "studies/bench.hpp"

namespace convoke::app {
namespace {

// Strategies differ by epoch; most epochs are like the last one.
std::int64_t last_epoch(const recipe::Recipe& recipe) {
  return std::max<std::int64_t>(0, recipe.train.loop.epochs - 1);
}

/// The model of a rank in training, on random data.
class Trial {
 public:
  /// `options`: with the batch of all ranks of `group`.
  Trial(const recipe::Recipe& recipe, engine::EngineOptions options, const mpi::Communicator& group,
        const sync::Strategy& strategy)
      : graph_(recipe.graph()),
        options_(std::move(options)),
        random_(graph_, options_.batch, recipe.seed),
        loader_(random_.loader(augmenter_of(recipe))),
        optimizer_(recipe.train.loop.optimizer),
        learning_rate_(recipe.learning_rate()),
        epoch_(last_epoch(recipe)),
        replica_(graph_, options_, loader_, *optimizer_, group, strategy, epoch_),
        ids_(train::all_ids(loader_.split())) {}

  void step() {
    replica_.step(static_cast<std::uint32_t>(epoch_), ids_, learning_rate_, {});
    if (replica_.synchronizes_after(epoch_, ++steps_)) replica_.synchronize();
  }
  engine::StepEngine& engine() { return replica_.engine(); }
  std::size_t state_slots() const { return optimizer_->state_slots(); }

  /// Returns the reports of a backward pass of the latest plan.
  std::vector<study::StepProfile::Report> backward() {
    nn::Network& plan = *engine().plan();
    const auto samples = std::span(ids_).first(static_cast<std::size_t>(plan.samples()));
    std::vector<std::int32_t> labels(samples.size());
    if (graph_.input_shape().type == nn::ValueType::kToken) {
      loader_.load_tokens(samples, plan.tokens(), labels);
    } else {
      loader_.load(samples, plan.input(), labels);
    }
    plan.forward({options_.seed, 0, samples});
    plan.loss(labels, options_.batch);
    std::vector<study::StepProfile::Report> reports;
    const os::Stopwatch watch;
    plan.backward([&](std::size_t end) { reports.push_back({end, watch.seconds()}); });
    const double end = watch.seconds();
    for (study::StepProfile::Report& at : reports) at.seconds_before_end = end - at.seconds_before_end;
    return reports;
  }

 private:
  nn::Graph graph_;
  engine::EngineOptions options_;
  RandomData random_;
  data::BatchLoader loader_;
  std::shared_ptr<const optim::Optimizer> optimizer_;
  double learning_rate_;
  std::int64_t epoch_, steps_ = 0;
  engine::Replica replica_;
  std::vector<std::uint32_t> ids_;
};

struct StepTime {
  double seconds = 0;
  double scatter = 0;         // of rounds of steps: (slowest - fastest) / median
  double update_seconds = 0;  // of `seconds`
};

/// Times rounds of steps.
class Stopwatches {
 public:
  /// `period`: steps after which everything repeats. `seconds`: of all rounds together, about.
  Stopwatches(Trial& trial, std::int64_t period, double seconds, const mpi::Communicator& world)
      : trial_(trial), world_(world) {
    for (std::int64_t i = 0; i < 2 * period; ++i) trial.step();
    world.barrier();
    const os::Stopwatch watch;
    for (std::int64_t i = 0; i < period; ++i) trial.step();
    const double one = mpi::max_of(world, watch.seconds());  // of the slowest rank
    steps_ = period * std::clamp<std::int64_t>(std::llround(seconds / kRounds / one), 1, 100000);
  }

  static constexpr int kRounds = 5;
  void run_round() {
    Timeline timeline;
    const Timeline::Use use(timeline);
    world_.barrier();
    const os::Stopwatch watch;
    for (std::int64_t i = 0; i < steps_; ++i) trial_.step();
    rounds_.push_back(mpi::max_of(world_, watch.seconds()) / static_cast<double>(steps_));
    updates_.push_back(timeline.seconds(Activity::kUpdate) / static_cast<double>(steps_));
  }

  StepTime time() const {
    const auto [fastest, slowest_round] = std::ranges::minmax_element(rounds_);
    const double median = study::median(rounds_);
    return {median, (*slowest_round - *fastest) / median, study::median(updates_)};
  }

 private:
  Trial& trial_;
  const mpi::Communicator& world_;
  std::int64_t steps_ = 1;
  std::vector<double> rounds_, updates_;
};

/// The reports of the backward pass; their times are medians.
std::vector<study::StepProfile::Report> backward_of(Trial& trial) {
  std::vector<std::vector<study::StepProfile::Report>> passes;
  const os::Stopwatch watch;
  while (passes.size() < 3 || (passes.size() < 9 && watch.seconds() < 1)) passes.push_back(trial.backward());
  std::vector<study::StepProfile::Report> reports = passes.front();
  for (std::size_t i = 0; i < reports.size(); ++i) {
    std::vector<double> times;
    for (const auto& pass : passes) times.push_back(pass[i].seconds_before_end);
    reports[i].seconds_before_end = study::median(times);
  }
  return reports;
}

/// The median time of 15 calls.
template <class Work>
double median_seconds(const Work& work) {
  std::vector<double> seconds;
  for (int i = 0; i < 15; ++i) {
    const os::Stopwatch watch;
    work();
    seconds.push_back(watch.seconds());
  }
  return study::median(seconds);
}

/// The time to add received values, which are in a cache, to those of this rank.
double add_seconds_per_byte(std::size_t floats) {
  std::vector<float> own(floats), received(own.size(), 1.0F);
  const double seconds = median_seconds([&] {
    for (std::size_t k = 0; k < own.size(); ++k) own[k] += received[k];
  });
  return seconds / static_cast<double>(own.size() * sizeof(float));
}

/// The time of one pass over the floats of a bucket. Alone, a sum makes four, and MPI copies once.
template <class Wire>
double copy_seconds_per_byte(std::size_t floats, const mpi::Communicator& alone) {
  const sync::SumChannels channels(alone);
  std::vector<float> values(floats, 1.0F);
  sync::OrderedSum<Wire> sum(channels, values);
  const double seconds = median_seconds([&] {
    sum.start();
    sum.combine(true);
    sum.finish(true);
  });
  constexpr double kPasses = 5;
  return seconds / kPasses / static_cast<double>(floats * sizeof(float));
}

/// The same for fixed point, which is packed and unpacked: numbers of 34 bits.
double pack_seconds_per_byte(std::size_t numbers) {
  std::vector<std::int64_t> values(numbers);
  for (std::size_t i = 0; i < numbers; ++i)
    values[i] =
        static_cast<std::int64_t>(i * 2654435761U % (std::uint64_t{1} << 34)) - (std::int64_t{1} << 33);
  AlignedBuffer<std::byte> packed(sync::most_packed_bytes(numbers));
  const double seconds = median_seconds([&] {
    sync::pack(values, packed.data());
    sync::unpack(packed.data(), values);
  });
  constexpr double kPasses = 2;
  return seconds / kPasses / static_cast<double>(numbers * sizeof(std::int64_t));
}

/// Describes the data that the ranks exchange.
void describe_exchange(const recipe::Recipe& recipe, const engine::EngineOptions& options, Trial& trial,
                       study::StepProfile& profile) {
  const nn::ParameterLayout& layout = trial.engine().layout();
  profile.sums = {.elements = layout.gradient_size() + engine::kStepMetrics,
                  .fixed = options.reduction == engine::Reduction::kExact,
                  .bf16_elements = layout.trainable_size()};
  profile.options = {options.bucket_bytes, options.wire};
  profile.shares_memory = options.sharing != engine::ModelSharing::kNone;
  const auto& strategy = recipe.train.loop.strategy;
  if (strategy->sums_gradients(last_epoch(recipe))) return;
  const auto sums =
      engine::ModelAverage::sums_of(trial.engine(), trial.state_slots(), strategy->state_rule());
  profile.averaging = {study::steps_to_average(*strategy, last_epoch(recipe)), sums.floats, sums.count};
}

}  // namespace

CheckedStep measure_exchanging_step(const recipe::Recipe& recipe, int threads, std::int64_t micro_batches,
                                    double seconds, const mpi::Communicator& world) {
  const std::shared_ptr<const sync::Strategy> strategy = recipe.train.loop.strategy,
                                              together = sync::make_strategy({});
  const std::int64_t epoch = last_epoch(recipe);
  const std::int64_t period = strategy->sums_gradients(epoch)
                                  ? 1
                                  : std::max<std::int64_t>(1, study::steps_to_average(*strategy, epoch));
  const engine::EngineOptions whole = engine_options(recipe, threads);
  engine::EngineOptions share = whole;
  share.batch = micro_batches * whole.micro_batch;
  const mpi::Communicator alone = world.split(world.rank(), 0);
  Trial real(recipe, whole, world, *strategy), computing(recipe, share, alone, *together);
  Stopwatches real_times(real, period, seconds, world), computing_times(computing, 1, seconds, world);
  for (int round = 0; round < Stopwatches::kRounds; ++round) {
    computing_times.run_round();
    real_times.run_round();
  }
  const StepTime computed = computing_times.time();
  return {real_times.time().seconds, computed.seconds - computed.update_seconds};
}

study::StepProfile measure_step(const recipe::Recipe& recipe, int threads,
                                const std::vector<std::int64_t>& micro_batch_counts, double seconds,
                                const mpi::Communicator& world) {
  const mpi::Communicator alone = world.split(world.rank(), 0);
  const auto together = sync::make_strategy({});
  const engine::EngineOptions whole = engine_options(recipe, threads);
  study::StepProfile profile{.micro_batches = whole.batch / whole.micro_batch, .batch = whole.batch};
  for (const std::int64_t micro_batches : micro_batch_counts) {
    engine::EngineOptions options = whole;
    options.batch = micro_batches * whole.micro_batch;
    Trial trial(recipe, options, alone, *together);
    Stopwatches stopwatches(trial, 1, seconds, world);
    for (int round = 0; round < Stopwatches::kRounds; ++round) stopwatches.run_round();
    const StepTime time = stopwatches.time();
    profile.compute.push_back({micro_batches, time.seconds - time.update_seconds, time.scatter});
    if (micro_batches != micro_batch_counts.front()) continue;
    profile.update_seconds = time.update_seconds;
    // The backward pass of the last plan that a rank runs hides the exchange.
    profile.backward = backward_of(trial);
    describe_exchange(recipe, whole, trial, profile);
  }
  const std::size_t bytes = profile.sums.elements * sizeof(float);
  const std::size_t floats = std::min(bytes, sync::bucket_bytes_for(bytes)) / sizeof(float);
  profile.add_seconds_per_byte = add_seconds_per_byte(floats);
  profile.copy_seconds_per_byte = profile.sums.fixed ? pack_seconds_per_byte(floats)
                                  : whole.wire == sync::Wire::kBfloat16
                                      ? copy_seconds_per_byte<sync::Bfloat16>(floats, alone)
                                      : copy_seconds_per_byte<float>(floats, alone);
  return profile;
}

}  // namespace convoke::app
