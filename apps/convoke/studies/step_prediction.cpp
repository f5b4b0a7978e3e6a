#include "commands.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <vector>

#include "cli/options.hpp"
#include "cluster/start.hpp"
#include "convoke/core/error.hpp"
#include "convoke/core/text.hpp"
#include "convoke/doctor/network.hpp"
#include "convoke/metrics/json.hpp"
#include "convoke/mpi/session.hpp"
#include "convoke/study/analysis/statistics.hpp"
#include "convoke/study/prediction/step_prediction.hpp"
#include "studies/step_profile.hpp"

namespace convoke::app {
namespace {

/// `convoke study predict`
struct StudyPredictOptions : RecipeOptions {
  std::vector<int> ranks;
  int ranks_per_node = 0;         // 0: as many as on this one
  std::vector<double> latency;    // between nodes, seconds; empty: measured, or assumed
  std::vector<double> bandwidth;  // between nodes, bytes per second; empty: measured, or assumed
  double core_share = -1;         // of the transfer between nodes; below 0: that of TCP
  double speed = 1;               // of the cluster's cores, relative to these
  bool weak = false;
  bool check = false;
  bool json = false;
  double seconds = 1;
};

constexpr const char* kStudyPredictHelp = R"(Examples:
  convoke study predict mnist-sync                     1 to 1,024 ranks, on a typical network
  mpirun -n 16 convoke study predict mnist-ddp --ranks-per-node 16 --latency 2us --bandwidth 100Gbit
                                                       a cluster of nodes like this one
  mpirun -n 2 convoke study predict mnist-sync --check
                                                       and measure two ranks here
  convoke study predict resnet50 --weak

The computation of a step is measured on random data by all ranks that you start: start as many as a node will
have. The ranks of a node sum their gradients in shared memory. Links between nodes are measured if the ranks that you
start run on several.

The prediction does not include nodes of unequal speed, other jobs on the network, or reading samples.
)";

// Ethernet of 10 Gbit/s, with the losses of switches and TCP.
constexpr double kUsualLatency = 20e-6, kUsualBandwidth = 1.1e9;
// Core time of TCP for copies and checksums in the kernel. With it the model agrees with two ranks over
// unlimited links (apps/bench/predicted_links.sh, AMD EPYC).
constexpr double kTcpCoreSecondsPerByte = 1e-9;

constexpr double kTcpCoreSecondsPerMessage = 4e-6;

struct Links {
  study::LinkSpeed between{kUsualLatency, kUsualBandwidth, kTcpCoreSecondsPerByte, kTcpCoreSecondsPerMessage};
  study::LinkSpeed within = study::Cluster{}.within;
  std::string from = "assumed";  ///< `between`
};

// Puts the medians of the links within nodes, or of those between them, into `speed`; false: there are none.
bool read_speed(const std::vector<doctor::Link>& links, bool within, study::LinkSpeed& speed) {
  std::vector<double> latencies, rates;
  for (const doctor::Link& link : links) {
    if (link.within() != within) continue;
    latencies.push_back(link.latency_seconds);
    rates.push_back(link.bytes_per_second);
  }
  if (rates.empty()) return false;
  speed.latency_seconds = study::median(latencies);
  speed.bytes_per_second = study::median(rates);
  return true;
}

// At the root. `i`: of several given links.
Links links_of(const StudyPredictOptions& options, const std::vector<doctor::Link>& measured, std::size_t i) {
  const auto given = [i](const std::vector<double>& values) {
    return values.empty() ? 0 : values[std::min(i, values.size() - 1)];
  };
  const double latency = given(options.latency), bandwidth = given(options.bandwidth);
  Links links;
  read_speed(measured, true, links.within);
  if (read_speed(measured, false, links.between)) links.from = "measured";
  study::LinkSpeed& link = links.between;
  if (latency > 0) link.latency_seconds = latency;
  if (bandwidth > 0) link.bytes_per_second = bandwidth;
  if (latency > 0 || bandwidth > 0) links.from = "given";
  if (options.core_share >= 0) {
    link.core_seconds_per_byte = options.core_share / link.bytes_per_second;
    if (options.core_share == 0) link.core_seconds_per_message = 0;
  }
  return links;
}

std::string link_note(const study::LinkSpeed& link, const std::string& from) {
  return fmt::format("{:.1f} us, {}/s ({})", link.latency_seconds * 1e6,
                     format_bytes(static_cast<std::uint64_t>(link.bytes_per_second)), from);
}

// "the ranks sum 373 kB in every step".
std::string describe_exchange(const study::StepProfile& profile) {
  const auto bytes = [](std::size_t floats, std::size_t each) {
    return format_bytes(static_cast<std::uint64_t>(floats * each));
  };
  if (profile.averaging) {
    const study::Averaging& averaging = *profile.averaging;
    if (averaging.every == 0) return "the ranks exchange nothing within an epoch";
    return fmt::format("the ranks average {} after {}", bytes(averaging.floats * averaging.sums, 4),
                       counted(averaging.every, "step"));
  }
  const std::size_t rounded =
      profile.options.wire == sync::Wire::kBfloat16 && !profile.sums.fixed ? profile.sums.bf16_elements : 0;
  return fmt::format("the ranks sum {} in every step{}",
                     bytes(profile.sums.elements, profile.sums.fixed ? 8 : 4),
                     rounded > 0 ? ", as bf16 between nodes" : "");
}

Settings to_settings(const study::StepPrediction& step) {
  return {{"ranks", step.ranks},
          {"micro_batches", step.micro_batches},
          {"compute_seconds", step.compute_seconds},
          {"summing_seconds", step.summing_seconds},
          {"exposed_seconds", step.exposed_seconds},
          {"step_seconds", step.seconds()},
          {"images_per_second", step.images_per_second},
          {"speedup", step.speedup},
          {"efficiency", step.efficiency}};
}

void print_steps(const std::vector<study::StepPrediction>& steps) {
  fmt::print("{:>6} {:>18} {:>11} {:>11} {:>11} {:>10} {:>12} {:>9} {:>11}\n", "ranks", "micro_batches/rank",
             "compute ms", "summing ms", "waiting ms", "step ms", "images/s", "speed-up", "efficiency");
  for (const study::StepPrediction& step : steps) {
    fmt::print("{:>6} {:>18} {:>11.3f} {:>11.3f} {:>11.3f} {:>10.3f} {:>12.0f} {:>9.2f} {:>10.1f} %\n",
               step.ranks, step.micro_batches, step.compute_seconds * 1e3, step.summing_seconds * 1e3,
               step.exposed_seconds * 1e3, step.seconds() * 1e3, step.images_per_second, step.speedup,
               step.efficiency * 100);
  }
}

// A prediction is only as good as the measured step.
void print_scatter(double scatter) {
  constexpr double kMuch = 0.25;
  fmt::print("the measured step times vary by {:.0f} % (slowest - fastest of five rounds){}\n", 100 * scatter,
             scatter <= kMuch ? ""
                              : ": WARNING, other work used the cores; repeat when it is idle, or with "
                                "--seconds 5");
}

// The measurements, at the root.
struct Measured {
  study::StepProfile profile;
  std::vector<doctor::Link> links;
  std::optional<CheckedStep> real;  // of all ranks
  int ranks = 1, threads = 1, ranks_per_node = 1;
};

// The prediction for the ranks that were measured.
study::StepPrediction predict_here(const Measured& measured, const study::Cluster& cluster,
                                   study::Scaling scaling) {
  study::StepProfile here = measured.profile;
  for (study::StepProfile::Compute& at : here.compute) {
    if (at.micro_batches == study::busiest_micro_batches(here.micro_batches, measured.ranks, scaling))
      at.seconds = measured.real->compute_seconds;
  }
  return predict_step(here, cluster, measured.ranks, scaling);
}

void print_json(const recipe::Recipe& recipe, const Measured& measured, const study::Cluster& cluster,
                const std::vector<study::StepPrediction>& steps,
                const std::optional<study::StepPrediction>& checked) {
  Settings result{{"recipe", recipe.name},
                  {"threads", measured.threads},
                  {"ranks_per_node", cluster.ranks_per_node},
                  {"scatter", measured.profile.scatter()},
                  {"latency_seconds", cluster.link.latency_seconds},
                  {"bytes_per_second", cluster.link.bytes_per_second}};
  Value::Array predictions;
  for (const study::StepPrediction& step : steps) predictions.emplace_back(to_settings(step));
  result.set("predictions", std::move(predictions));
  if (checked) {
    Settings check = to_settings(*checked);
    check.set("measured_seconds", measured.real->seconds);
    check.set("error", checked->seconds() / measured.real->seconds - 1);
    result.set("check", std::move(check));
  }
  fmt::print("{}\n", metrics::to_json(result));
}

// Predicts all numbers of ranks with given link `i`, and prints them.
void predict(const StudyPredictOptions& options, const recipe::Recipe& recipe, const std::vector<int>& ranks,
             const Measured& measured, std::size_t i) {
  const study::Scaling scaling = options.weak ? study::Scaling::kWeak : study::Scaling::kStrong;
  const Links links = links_of(options, measured.links, i);
  const study::Cluster cluster{
      .ranks_per_node = measured.ranks_per_node, .link = links.between, .within = links.within};
  const study::StepProfile there = at_speed(measured.profile, options.speed);
  std::vector<study::StepPrediction> steps;
  for (const int count : ranks) steps.push_back(predict_step(there, cluster, count, scaling));
  std::optional<study::StepPrediction> checked;
  if (measured.real) checked = predict_here(measured, cluster, scaling);

  if (options.json) {
    print_json(recipe, measured, cluster, steps, checked);
    return;
  }
  if (i == 0) {
    fmt::print("{}: {} scaling, batch {}{}, {} a rank, {} a node; {}\n", recipe.name,
               options.weak ? "weak" : "strong", recipe.train.step.batch, options.weak ? " a rank" : "",
               counted(measured.threads, "thread"), counted(cluster.ranks_per_node, "rank"),
               describe_exchange(measured.profile));
  }
  fmt::print("  links between nodes: {}\n", link_note(links.between, links.from));
  print_steps(steps);
  if (i == 0) print_scatter(measured.profile.scatter());
  if (checked) {
    print_steps({*checked});
    fmt::print("here, {}: predicted {:.3f} ms, measured {:.3f} ms: {:+.1f} %\n",
               counted(measured.ranks, "rank"), checked->seconds() * 1e3, measured.real->seconds * 1e3,
               (checked->seconds() / measured.real->seconds - 1) * 100);
  }
}

int study_predict(const StudyPredictOptions& options) {
  // 1. The recipe and the numbers of ranks.
  const recipe::Recipe recipe = recipe::Recipe::load(options.recipe, options.changes);
  if (recipe.train.mode != "sync") {
    throw Error(
        fmt::format("{}: the members of an ensemble do not communicate while they train, so each takes the "
                    "time of a run alone",
                    recipe.name),
        "predict a synchronous recipe, or add --set train.mode=sync");
  }
  if (options.latency.size() > 1 && options.bandwidth.size() > 1 &&
      options.latency.size() != options.bandwidth.size()) {
    throw Error(fmt::format("--latency has {}, --bandwidth {}", counted(options.latency.size(), "value"),
                            counted(options.bandwidth.size(), "value")),
                "give both for each link, or one of them once for all links");
  }
  const study::Scaling scaling = options.weak ? study::Scaling::kWeak : study::Scaling::kStrong;
  mpi::Session session;
  const mpi::Communicator& world = session.world();
  const run::Machine machine = bound_machine(world, recipe.run.execution.threads);
  const int threads = machine.threads_for(recipe.run.execution.threads);
  std::vector<int> ranks = options.ranks;
  if (ranks.empty()) {
    for (int n = 1; n <= 1024; n *= 2) ranks.push_back(n);
  }
  std::vector<int> measured = ranks;
  if (options.check) measured.push_back(world.size());

  // 2. Measure the step of a rank, and the links.
  const std::int64_t micro_batches = recipe.train.step.batch / recipe.micro_batch();
  const study::StepProfile profile = measure_step(
      recipe, threads, study::needed_micro_batches(micro_batches, measured, scaling), options.seconds, world);
  const std::vector<doctor::Link> measured_links = doctor::measure_links(machine, world);
  std::optional<CheckedStep> real;
  if (options.check) {
    recipe::Recipe whole = recipe;
    whole.train.step.micro_batch = recipe.micro_batch();  // as in the prediction
    if (options.weak) whole.train.step.batch *= world.size();
    real = measure_exchanging_step(whole, threads,
                                   study::busiest_micro_batches(micro_batches, world.size(), scaling),
                                   options.seconds, world);
  }
  if (!world.root()) return EXIT_SUCCESS;

  // 3. Predict.
  const Measured result{
      .profile = profile,
      .links = measured_links,
      .real = real,
      .ranks = world.size(),
      .threads = threads,
      .ranks_per_node = options.ranks_per_node > 0 ? options.ranks_per_node : machine.local_ranks};
  const std::size_t links = std::max({std::size_t{1}, options.latency.size(), options.bandwidth.size()});
  for (std::size_t i = 0; i < links; ++i) predict(options, recipe, ranks, result, i);
  return EXIT_SUCCESS;
}

}  // namespace

std::function<int()> add_study_predict(CLI::App& parser) {
  auto options = std::make_shared<StudyPredictOptions>();
  const std::map<std::string, double> times{{"ns", 1e-9}, {"us", 1e-6}, {"ms", 1e-3}, {"s", 1}};
  const std::map<std::string, double> rates{{"Mbit", 1e6 / 8}, {"Gbit", 1e9 / 8}, {"MB", 1e6}, {"GB", 1e9}};
  const auto with_unit = static_cast<CLI::AsNumberWithUnit::Options>(CLI::AsNumberWithUnit::CASE_INSENSITIVE |
                                                                     CLI::AsNumberWithUnit::UNIT_REQUIRED);
  add_recipe_options(parser, *options);
  add_option(parser, "--ranks", options->ranks, "N,...", "Numbers of ranks; 1,2,4,...,1024 by default")
      ->delimiter(',')
      ->check(positive());
  add_option(parser, "--ranks-per-node", options->ranks_per_node, "N",
             "Ranks on each node; by default as many as you start on this one")
      ->check(positive());
  add_option(parser, "--latency", options->latency, "TIME,...",
             "Time of a message between nodes, one way, such as 2us, for each link; by default measured, or "
             "20us")
      ->delimiter(',')
      ->transform(CLI::AsNumberWithUnit(times, with_unit).description(""))
      ->check(positive());
  add_option(parser, "--bandwidth", options->bandwidth, "RATE,...",
             "Data per second between nodes, one way, such as 100Gbit or 1Gbit,10Gbit for two links; by "
             "default measured, or 8.8Gbit")
      ->delimiter(',')
      ->transform(CLI::AsNumberWithUnit(rates, with_unit).description(""))
      ->check(positive());
  add_option(parser, "--core-share", options->core_share, "SHARE",
             "Share of a transfer between nodes that keeps a core busy, 0 with RDMA; by default that of "
             "TCP, 1 s for each GB")
      ->check(in_range(0, 1));
  add_option(parser, "--speed", options->speed, "FACTOR",
             "Speed of the cluster's cores, relative to those that you measure on")
      ->check(positive())
      ->capture_default_str();
  parser.add_flag("--weak", options->weak, "Give each rank the batch of the recipe instead of a share of it");
  parser.add_flag("--check", options->check, "Also measure a step of the ranks that you start");
  add_option(parser, "--seconds", options->seconds, "SECONDS",
             "Time to measure each number of micro-batches for")
      ->check(positive())
      ->capture_default_str();
  parser.add_flag("--json", options->json, "Print the predictions as JSON, a line for each link");
  parser.footer(kStudyPredictHelp);
  return [options] { return study_predict(*options); };
}

}  // namespace convoke::app
