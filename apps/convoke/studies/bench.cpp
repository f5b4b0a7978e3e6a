#include "commands.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <numeric>

#include "cli/options.hpp"
#include "cluster/start.hpp"
#include "convoke/core/text.hpp"
#include "convoke/core/timeline.hpp"
#include "convoke/engine/replica.hpp"
#include "convoke/metrics/json.hpp"
#include "convoke/mpi/session.hpp"
#include "convoke/mpi/together.hpp"
#include "convoke/optim/optimizer.hpp"
#include "convoke/os/atomic_file.hpp"
#include "convoke/os/clock.hpp"
#include "convoke/os/memory.hpp"
#include "convoke/os/process.hpp"
#include "convoke/os/processors.hpp"
#include "convoke/recipe/job.hpp"
#include "convoke/recipe/recipe.hpp"
#include "convoke/run/machine.hpp"
#include "convoke/run/phases.hpp"
#include "convoke/run/trace_file.hpp"
#include "convoke/study/analysis/statistics.hpp"
#include "convoke/train/samples.hpp"
#include "studies/bench.hpp"

namespace convoke::app {

std::string samples_of(const nn::Graph& graph) {
  const nn::ValueSpec input(graph.input_shape());
  if (input.rank() == 3) return "images";
  return input.type == nn::ValueType::kToken || input.rank() == 2 ? "sequences" : "samples";
}

std::string figures(double rate) { return fmt::format("{:.{}f}", rate, rate < 10 ? 2 : rate < 100 ? 1 : 0); }

Bound bound_of(const std::vector<nn::PlanStep>& steps, const std::vector<double>& seconds,
               std::int64_t samples) {
  Bound bound;
  double total = 0;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (!steps[i].product()) continue;
    total += seconds[i];
    bound.flops_per_image += steps[i].flops / static_cast<double>(samples);
  }
  if (total > 0) bound.images_per_second = static_cast<double>(samples) / total;
  return bound;
}

void print_profile(const std::vector<nn::PlanStep>& steps, const std::vector<double>& seconds,
                   std::int64_t samples) {
  fmt::print("{:<16} {:<28} {:<30} {:>9} {:>9}\n", "node", "step", "implementation", "us/image", "GFLOP/s");
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const double micros = seconds[i] * 1e6 / static_cast<double>(samples);
    const std::string rate =
        steps[i].product() ? fmt::format("{:9.1f}", steps[i].flops / seconds[i] / 1e9) : "";
    fmt::print("{:<16} {:<28} {:<30} {:>9.2f} {:>9}\n", steps[i].node, steps[i].what, steps[i].implementation,
               micros, rate);
  }
  fmt::print("{:<76} {:>9.2f}\n\n", "sum of the steps, each timed alone on one worker",
             std::accumulate(seconds.begin(), seconds.end(), 0.0) * 1e6 / static_cast<double>(samples));
}

namespace {

constexpr const char* kBenchHelp = R"(Examples:
  convoke bench mnist-ensemble --set run.threads=1          one core
  mpirun -n 2 convoke bench mnist-sync                      two ranks, which sum gradients
  convoke bench mnist-ddp --set train.batch=64 --profile    the time of each kernel
  convoke bench mnist-sync --set train.reduction=exact --json
  mpirun -n 2 convoke bench mnist-sync --trace steps.json   for ui.perfetto.dev
  convoke bench --data mnist-sync --set augment.rotation_range=10     converting and augmenting
  convoke bench --inference model.onnx                      prediction, 1 and 32 images at once
  mpirun -n 2 convoke bench mnist-sync --beside 1           also beside one busy program

images_per_second counts the samples of all ranks together ("unit" says whether they are images, sequences or
table rows). It is the median over the rounds; a round takes at least --seconds, and its slowest rank counts.

bound_images_per_second is an upper bound: the rate if only the convolutions and matrix products took time. It
is made from the best time of each of these kernels alone on one worker thread, times the number of workers.

With --inference, the latency is the time from the call with samples in memory to their outputs. The plan is that
of `convoke predict`; the weights do not matter.
)";

// Keeps `count` of the host's cores busy, whichever the system chooses, as long as the programs exist.
std::vector<std::unique_ptr<os::ChildProcess>> busy_programs(int count) {
  std::vector<int> cpus;
  for (const os::LogicalCpu& cpu : os::online_cpus()) cpus.push_back(cpu.cpu);
  const std::vector<std::string> words{"taskset", "--cpu-list", fmt::format("{}", fmt::join(cpus, ",")),
                                       "sh",      "-c",         "while :; do :; done"};
  std::vector<std::unique_ptr<os::ChildProcess>> programs;
  for (int i = 0; i < count; ++i) programs.push_back(std::make_unique<os::ChildProcess>(words));
  return programs;
}

// Times the training step of a recipe on random data: every rank, every thread, communication included; or,
// with --data, only how fast samples are converted and augmented.
int bench(const BenchOptions& options) {
  if (options.data) return bench_data(options);
  if (options.inference) return bench_inference(options);
  // 1. The step of the recipe. The ranks of an ensemble work independently.
  std::optional<recipe::Recipe> here = recipe::Recipe::load_if_here(options.recipe, options.changes);
  mpi::Session session;
  const mpi::Communicator& world = session.world();
  const recipe::Recipe recipe =
      recipe::Recipe::of_root(std::move(here), options.recipe, options.changes, world);
  if (!options.trace.empty()) {  // a mistake is reported before the measurement
    mpi::on_root(world, [&] {
      os::require_other_file(options.trace, options.recipe);
      os::AtomicFile(options.trace);
    });
  }
  const run::Machine machine = bound_machine(world, recipe.run.execution.threads);
  const int threads = machine.threads_for(recipe.run.execution.threads);
  const bool together = recipe.train.mode == "sync";
  const mpi::Communicator group = world.split(together ? 0 : world.rank(), world.rank());

  // 2. Random data of the same shape, and an engine.
  const nn::Graph graph = recipe.graph();
  const std::int64_t batch = recipe.train.step.batch;
  const std::int64_t count = RandomData::count_for(graph, batch);
  const RandomData random(graph, count, recipe.seed);
  const data::BatchLoader loader = random.loader(augmenter_of(recipe));
  run::Phases phases(
      options.trace.empty() ? 0 : run::trace_events(machine.all_threads(recipe.run.execution.threads)));
  const Timeline::Use use(*phases.timeline);
  const mpi::ClockReading clock = mpi::read_root_clock(world);
  const auto& optimizer = recipe.train.loop.optimizer;
  const auto& strategy = recipe.train.loop.strategy;
  engine::Replica replica(graph, engine_options(recipe, threads), loader, *optimizer, group, *strategy, 0);
  const std::vector<std::uint32_t> ids = train::all_ids(loader.split());
  std::int64_t next = 0, done = 0;
  const auto step = [&] {
    const Span span(Activity::kStep, nullptr, done);
    const auto samples =
        std::span(ids).subspan(static_cast<std::size_t>(next * batch), static_cast<std::size_t>(batch));
    replica.step(0, samples, recipe.learning_rate(), {});
    if (replica.synchronizes_after(0, ++done)) replica.synchronize();
    next = (next + 1) % (count / batch);
  };

  // 3. The first step, then rounds between barriers.
  step();
  const double first_step = seconds_since_start() - session.init_seconds();
  const auto makespan_of = [&](std::int64_t steps) {
    world.barrier();
    const os::Stopwatch watch;
    for (std::int64_t i = 0; i < steps; ++i) step();
    return mpi::max_of(world, watch.seconds());
  };
  double one = makespan_of(1);
  for (int i = 0; i < 3 && one < 1; ++i) one = makespan_of(1);  // until caches and clock are warm
  const auto steps = std::max<std::int64_t>(1, std::llround(options.seconds / one));
  std::vector<double> rates, beside;
  double exposed = 0;
  const auto rate_of_round = [&] {
    return static_cast<double>(batch * steps * (together ? 1 : world.size())) / makespan_of(steps);
  };
  for (int round = 0; round < options.rounds; ++round) {
    const double exposed_before = run::times_of(phases).exposed_communication;
    rates.push_back(rate_of_round());
    exposed += run::times_of(phases).exposed_communication - exposed_before;
    if (options.beside == 0) continue;
    const auto busy =
        mpi::together(world, [&] { return busy_programs(machine.local_rank == 0 ? options.beside : 0); });
    beside.push_back(rate_of_round());
  }

  if (!options.trace.empty()) run::write_trace(options.trace, *phases.timeline, clock, world);

  // 4. The primitives of the same plan alone, while the other ranks wait.
  std::array<double, 3> worst{first_step, static_cast<double>(os::peak_resident_bytes()) / (1024.0 * 1024.0),
                              exposed / static_cast<double>(steps * options.rounds)};
  world.max(worst);
  Bound bound;
  if (world.root()) {
    nn::Network& plan = *replica.engine().plan();
    const std::vector<double> seconds = plan.time_steps(50);
    bound = bound_of(plan.steps(), seconds, plan.samples());
    if (options.profile) print_profile(plan.steps(), seconds, plan.samples());
  }
  world.barrier();
  if (!world.root()) return EXIT_SUCCESS;

  // 5. Print the result.
  const double rate = study::median(rates);
  Settings result{{"recipe", recipe.name},
                  {"mode", recipe.train.mode},
                  {"reduction", recipe::to_string(recipe.train.step.reduction)},
                  {"strategy", strategy->settings()},
                  {"wire", recipe::to_string(recipe.train.step.wire)},
                  {"ranks", world.size()},
                  {"threads", threads},
                  {"unit", samples_of(graph)},
                  {"batch", batch},
                  {"micro_batch", recipe.micro_batch()},
                  {"micro_batches_together", replica.engine().plan()->options().micro_batches},
                  {"images_per_second", rate},
                  {"images_per_second_best", std::ranges::max(rates)},
                  {"images_per_second_worst", std::ranges::min(rates)},
                  {"steps", done},
                  {"exposed_milliseconds", 1e3 * worst[2]},
                  {"gflops", rate * bound.flops_per_image / 1e9},
                  {"bound_images_per_second", bound.images_per_second * threads * world.size()},
                  {"seconds_to_first_step", worst[0]},
                  {"mpi_init_seconds", session.init_seconds()},
                  {"peak_rss_mib", worst[1]}};
  if (options.beside > 0) {
    result.set("busy_programs", options.beside);
    result.set("images_per_second_beside", study::median(beside));
  }
  if (options.json) {
    fmt::print("{}\n", metrics::to_json(result));
    return EXIT_SUCCESS;
  }
  fmt::print("{}: {}, {} x {}, batch {}, micro-batch {}\n", recipe.name, recipe.train.mode,
             counted(world.size(), "rank"), counted(threads, "thread"), batch, recipe.micro_batch());
  const std::string unit = samples_of(graph) + "/s";
  fmt::print("  {:<18} {:>10}  (rounds from {} to {})\n", unit, figures(rate),
             figures(std::ranges::min(rates)), figures(std::ranges::max(rates)));
  if (options.beside > 0) {
    fmt::print("  {:<18} {:>10}  (rounds from {} to {}): {:.2f} of the rate alone\n",
               fmt::format("beside {} busy", options.beside), figures(study::median(beside)),
               figures(std::ranges::min(beside)), figures(std::ranges::max(beside)),
               study::median(beside) / rate);
  }
  if (group.size() > 1) {
    fmt::print(
        "  exposed            {:>10.2f}  ms a step in which a rank only waits for the exchange ({:.1f} %)\n",
        1e3 * worst[2], 100 * worst[2] * rate / static_cast<double>(batch));
  }
  fmt::print("  GFLOP/s            {:>10.1f}  in convolutions and products\n",
             rate * bound.flops_per_image / 1e9);
  fmt::print("  {:<18} {:>10}  if only those took time\n", "bound, " + unit,
             figures(bound.images_per_second * threads * world.size()));
  fmt::print("  first step         {:>10.3f} s after the start, beyond the {:.3f} s of MPI_Init\n", worst[0],
             session.init_seconds());
  fmt::print("  peak memory        {:>10.1f} MiB per rank\n", worst[1]);
  return EXIT_SUCCESS;
}

}  // namespace

std::function<int()> add_bench(CLI::App& parser) {
  auto options = std::make_shared<BenchOptions>();
  add_recipe_options(parser, *options);
  add_option(parser, "--seconds", options->seconds, "SECONDS", "Shortest length of a round")
      ->check(positive())
      ->capture_default_str();
  add_option(parser, "--rounds", options->rounds, "N", "Number of rounds")
      ->check(positive())
      ->capture_default_str();
  CLI::Option* const beside =
      add_option(parser, "--beside", options->beside, "N",
                 "Repeat each round beside so many programs that keep a core of the host busy")
          ->check(in_range(1, 1024));
  CLI::Option* const trace = add_option(parser, "--trace", options->trace, "FILE",
                                        "Write a trace of the newest steps for ui.perfetto.dev");
  parser.add_flag("--data", options->data, "Time only the conversion and augmentation of samples")
      ->excludes(trace)
      ->excludes(beside);
  CLI::Option* const inference =
      parser.add_flag("--inference", options->inference, "Time prediction instead of a training step")
          ->excludes(trace)
          ->excludes(beside)
          ->excludes("--data");
  add_option(parser, "--batch", options->batches, "N",
             "With --inference: how many samples each call predicts")
      ->needs(inference)
      ->check(in_range(1, 1 << 20))
      ->capture_default_str();
  parser.add_flag("--profile", options->profile, "Also print the time of every kernel");
  parser.add_flag("--json", options->json, "Print the result as JSON");
  parser.footer(kBenchHelp);
  return [options] { return bench(*options); };
}

}  // namespace convoke::app
