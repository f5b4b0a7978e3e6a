#include "studies/step_profile.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <optional>

#include "convoke/engine/lane_engine.hpp"
#include "convoke/optim/optimizer.hpp"
#include "convoke/os/clock.hpp"
#include "convoke/recipe/job.hpp"
#include "convoke/study/analysis/statistics.hpp"
#include "convoke/sync/allreduce.hpp"
#include "studies/random_data.hpp"

namespace convoke::app {
namespace {

/// The time of the slowest rank.
double slowest(double seconds, const mpi::Communicator& world) {
  std::array<double, 1> most{seconds};
  world.max(most);
  return most[0];
}

/// The engine of one rank, on random data.
class Trial {
 public:
  Trial(const recipe::Recipe& recipe, engine::EngineOptions options, const mpi::Communicator& alone)
      : graph_(recipe.graph()),
        options_(std::move(options)),
        random_(graph_, options_.batch, recipe.seed),
        loader_(random_.loader(augmenter_of(recipe))),
        optimizer_(optim::make_optimizer(recipe.train.optimizer)),
        learning_rate_(recipe.learning_rate()),
        engine_(graph_, options_, loader_, *optimizer_, alone),
        ids_(static_cast<std::size_t>(options_.batch)) {
    std::iota(ids_.begin(), ids_.end(), 0U);
  }

  void step() { engine_.step(0, ids_, learning_rate_); }
  engine::LaneEngine& engine() { return engine_; }

  /// One report of the backward pass: how many elements of the gradient are complete, and the seconds until
  /// the pass ends.
  struct Progress {
    std::size_t elements = 0;
    double seconds_before_end = 0;
  };
  std::vector<Progress> backward() {
    nn::Network& plan = *engine_.plan();
    const auto samples = std::span(ids_).first(static_cast<std::size_t>(plan.samples()));
    std::vector<std::int32_t> labels(samples.size());
    if (graph_.input_shape().type == nn::ValueType::kToken) {
      loader_.load_tokens(samples, plan.tokens(), labels);
    } else {
      loader_.load(samples, plan.input(), labels);
    }
    plan.forward({options_.seed, 0, samples});
    plan.loss(labels, options_.batch);
    std::vector<Progress> progress;
    const os::Stopwatch watch;
    plan.backward([&](std::size_t end) { progress.push_back({end, watch.seconds()}); });
    const double end = watch.seconds();
    for (Progress& at : progress) at.seconds_before_end = end - at.seconds_before_end;
    return progress;
  }

 private:
  nn::Graph graph_;
  engine::EngineOptions options_;
  RandomData random_;
  data::BatchLoader loader_;
  std::unique_ptr<optim::Optimizer> optimizer_;
  double learning_rate_;
  engine::LaneEngine engine_;
  std::vector<std::uint32_t> ids_;
};

struct StepTime {
  double seconds = 0;
  double scatter = 0;  // of rounds of steps: (slowest - fastest) / median
};

StepTime time_of_step(Trial& trial, double seconds, const mpi::Communicator& world) {
  trial.step();
  trial.step();
  world.barrier();
  const os::Stopwatch watch;
  trial.step();
  const double one = slowest(watch.seconds(), world);
  const auto steps = std::clamp<std::int64_t>(std::llround(seconds / 5 / one), 1, 100000);
  std::vector<double> rounds;
  for (int round = 0; round < 5; ++round) {
    world.barrier();
    const os::Stopwatch each;
    for (std::int64_t i = 0; i < steps; ++i) trial.step();
    rounds.push_back(slowest(each.seconds(), world) / static_cast<double>(steps));
  }
  const auto [fastest, slowest_round] = std::minmax_element(rounds.begin(), rounds.end());
  const double median = study::median(rounds);
  return {median, (*slowest_round - *fastest) / median};
}

/// The buckets that sync::AllReduce would make, and when backward completes them.
std::vector<study::Bucket> buckets_of(Trial& trial, std::size_t elements, std::size_t element_bytes,
                                      const sync::ExchangeOptions& options) {
  std::vector<std::vector<Trial::Progress>> runs;
  for (int i = 0; i < 9; ++i) runs.push_back(trial.backward());
  const std::size_t size = sync::bucket_elements(elements, element_bytes, options);
  std::vector<study::Bucket> buckets;
  for (std::size_t begin = 0; begin < elements;) {
    const std::size_t end = std::min(elements, begin + size);
    std::vector<double> before_end;
    for (const auto& progress : runs) {
      const auto ready = std::find_if(progress.begin(), progress.end(),
                                      [&](const Trial::Progress& at) { return at.elements >= end; });
      before_end.push_back(ready == progress.end() ? 0 : ready->seconds_before_end);
    }
    buckets.push_back({static_cast<double>((end - begin) * element_bytes), study::median(before_end)});
    begin = end;
  }
  return buckets;
}

/// The time to add received values, which are in a cache, to those of this rank.
double add_seconds_per_byte(std::size_t bytes) {
  std::vector<float> own(std::max<std::size_t>(bytes / sizeof(float), 1024)), received(own.size(), 1.0F);
  std::vector<double> seconds;
  for (int i = 0; i < 15; ++i) {
    const os::Stopwatch watch;
    for (std::size_t k = 0; k < own.size(); ++k) own[k] += received[k];
    seconds.push_back(watch.seconds());
  }
  return study::median(seconds) / static_cast<double>(own.size() * sizeof(float));
}

}  // namespace

double measure_exchanging_step(const recipe::Recipe& recipe, int threads, double seconds,
                               const mpi::Communicator& world) {
  Trial trial(recipe, engine_options(recipe, threads), world);
  return time_of_step(trial, seconds, world).seconds;
}

study::StepProfile measure_step(const recipe::Recipe& recipe, int threads,
                                const std::vector<std::int64_t>& lane_counts, double seconds,
                                const mpi::Communicator& world) {
  const mpi::Communicator alone = world.split(world.rank(), 0);
  const engine::EngineOptions whole = engine_options(recipe, threads);
  study::StepProfile profile{.lanes = whole.batch / whole.lane, .batch = whole.batch};
  for (const std::int64_t lanes : lane_counts) {
    engine::EngineOptions options = whole;
    options.batch = lanes * whole.lane;
    Trial trial(recipe, options, alone);
    const StepTime time = time_of_step(trial, seconds, world);
    profile.compute.push_back({lanes, time.seconds, time.scatter});
    if (lanes != lane_counts.front()) continue;
    // The backward pass of the last plan that a rank runs hides the exchange.
    const std::size_t bytes =
        whole.reduction == engine::Reduction::kExact ? sizeof(std::int64_t) : sizeof(float);
    profile.buckets = buckets_of(trial, trial.engine().layout().gradient_size(), bytes, {whole.bucket_bytes});
  }
  profile.add_seconds_per_byte = add_seconds_per_byte(
      profile.buckets.empty() ? 0 : static_cast<std::size_t>(profile.buckets.front().bytes));
  return profile;
}

}  // namespace convoke::app
