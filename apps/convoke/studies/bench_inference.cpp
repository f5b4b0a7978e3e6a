#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "cluster/start.hpp"
#include "convoke/core/text.hpp"
#include "convoke/engine/evaluator.hpp"
#include "convoke/metrics/json.hpp"
#include "convoke/mpi/session.hpp"
#include "convoke/mpi/together.hpp"
#include "convoke/os/clock.hpp"
#include "convoke/recipe/job.hpp"
#include "convoke/study/analysis/statistics.hpp"
#include "convoke/train/samples.hpp"
#include "results/samples_from.hpp"
#include "studies/bench.hpp"

namespace convoke::app {
namespace {

/// Samples as a network reads them, (count, ...); tokens as whole numbers.
std::vector<float> random_samples(const nn::Graph& graph, std::int64_t count, std::uint64_t seed) {
  const RandomData random(graph, count, seed);
  const data::BatchLoader loader = random.loader();
  return inputs_of(loader, train::all_ids(loader.split()), graph.input_shape());
}

/// Returns random parameters (canonical values) of a network.
std::vector<float> random_parameters(const nn::Graph& graph, std::uint64_t seed) {
  const nn::ParameterLayout layout(graph, 1, nn::ConvolutionChoice::kAuto, nn::Precision::kFloat32, false);
  return engine::unpack(engine::canonical_parameters(graph), layout,
                        nn::initial_parameters(layout, seed).span());
}

/// Predictions of `batch` samples at once.
class Case {
 public:
  Case(const nn::Graph& graph, engine::EvaluatorOptions options, std::int64_t batch, std::uint64_t seed)
      : batch_(batch), samples_(random_samples(graph, batch, seed)) {
    options.samples = batch;
    evaluator_.emplace(graph, options);
    evaluator_->load(random_parameters(graph, seed));
    predict();  // until caches are warm
  }

  /// Predicts until `seconds` have passed.
  void round(double seconds, const mpi::Communicator& world) {
    world.barrier();
    const double cpu = os::process_cpu_seconds();
    const os::Stopwatch watch;
    double now = 0;
    std::int64_t samples = 0;
    while (samples == 0 || now < seconds) {
      predict();
      const double end = watch.seconds();
      latencies_.push_back(end - now);
      now = end;
      samples += batch_;
    }
    cpu_seconds_ += os::process_cpu_seconds() - cpu;
    samples_done_ += samples;
    rates_.push_back(mpi::sum_of(world, static_cast<double>(samples) / now));
  }

  /// Returns what was measured, with the latencies of this rank.
  Settings result(int workers, bool profile) {
    std::ranges::sort(latencies_);
    const auto percentile = [&](double part) {  // the smallest latency that this part does not exceed
      const auto rank = static_cast<std::size_t>(std::ceil(part * static_cast<double>(latencies_.size())));
      return 1e3 * latencies_[std::max<std::size_t>(rank, 1) - 1];
    };
    nn::Network& plan = evaluator_->plan();
    const std::vector<double> seconds = plan.time_steps(50);
    if (profile) print_profile(plan.steps(), seconds, plan.samples());
    const double bound = bound_of(plan.steps(), seconds, plan.samples()).images_per_second * workers;
    const double rate = study::median(rates_);
    return {{"batch", batch_},
            {"samples_together", plan.samples()},
            {"images_per_second", rate},
            {"images_per_second_best", std::ranges::max(rates_)},
            {"images_per_second_worst", std::ranges::min(rates_)},
            {"latency_p50_milliseconds", percentile(0.5)},
            {"latency_p99_milliseconds", percentile(0.99)},
            {"calls", static_cast<std::int64_t>(latencies_.size())},
            {"cpu_milliseconds_per_image", 1e3 * cpu_seconds_ / static_cast<double>(samples_done_)},
            {"bound_images_per_second", bound},
            {"part_of_bound", bound > 0 ? rate / bound : 0}};
  }

 private:
  void predict() { evaluator_->outputs(samples_); }

  std::int64_t batch_;
  std::vector<float> samples_;
  std::optional<engine::Evaluator> evaluator_;
  std::vector<double> latencies_, rates_;
  double cpu_seconds_ = 0;
  std::int64_t samples_done_ = 0;
};

}  // namespace

int bench_inference(const BenchOptions& options) {
  // 1. The network of the recipe or the model file.
  std::optional<recipe::Recipe> here = recipe::Recipe::load_if_here(options.recipe, options.changes);
  mpi::Session session;
  const mpi::Communicator& world = session.world();
  const recipe::Recipe recipe =
      recipe::Recipe::of_root(std::move(here), options.recipe, options.changes, world);
  const int threads =
      bound_machine(world, recipe.run.execution.threads).threads_for(recipe.run.execution.threads);
  const nn::Graph graph = recipe.graph();
  engine::EvaluatorOptions evaluator =
      engine::evaluator_options(engine_options(recipe, threads), graph.output_shape().elements());
  evaluator.folded = evaluator.precision == nn::Precision::kFloat32;  // as predict

  // 2. Rounds, in which the batches take turns.
  std::vector<Case> cases;
  for (const std::int64_t batch : options.batches) cases.emplace_back(graph, evaluator, batch, recipe.seed);
  for (int round = 0; round < options.rounds; ++round) {
    for (Case& each : cases) each.round(options.seconds, world);
  }
  if (!world.root()) return EXIT_SUCCESS;

  // 3. Print the results.
  std::vector<Settings> results;
  for (Case& each : cases)
    results.push_back(each.result(threads * world.size(), options.profile && !options.json));
  const std::string precision = recipe::to_string(evaluator.precision);
  if (options.json) {
    Value::Array rows(results.begin(), results.end());
    fmt::print("{}\n", metrics::to_json(Settings{{"recipe", recipe.name},
                                                 {"ranks", world.size()},
                                                 {"threads", threads},
                                                 {"precision", precision},
                                                 {"unit", samples_of(graph)},
                                                 {"inference", rows}}));
    return EXIT_SUCCESS;
  }
  const std::string unit = samples_of(graph) + "/s";
  fmt::print("{}: inference in {}, {} x {}\n", recipe.name, precision, counted(world.size(), "rank"),
             counted(threads, "thread"));
  fmt::print("  {:>6} {:>12} {:>10} {:>10} {:>7} {:>18} {:>9}\n", "batch", unit, "p50 ms", "p99 ms", "calls",
             "bound, " + unit, "of bound");
  for (const Settings& row : results) {
    const auto number = [&](const char* key) { return std::get<double>(row.find(key)->data()); };
    const auto whole = [&](const char* key) { return std::get<std::int64_t>(row.find(key)->data()); };
    fmt::print("  {:>6} {:>12} {:>10.2f} {:>10.2f} {:>7} {:>18} {:>7.0f} %\n", whole("batch"),
               figures(number("images_per_second")), number("latency_p50_milliseconds"),
               number("latency_p99_milliseconds"), whole("calls"), figures(number("bound_images_per_second")),
               100 * number("part_of_bound"));
  }
  fmt::print(
      "p50, p99: half, and 99 % of the calls take at most this time. bound: if only convolutions and\n"
      "products took time.\n");
  return EXIT_SUCCESS;
}

}  // namespace convoke::app
