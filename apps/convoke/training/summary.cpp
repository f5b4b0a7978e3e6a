#include "commands.hpp"

#include <fmt/format.h>

#include "cli/options.hpp"
#include "convoke/core/text.hpp"
#include "convoke/engine/busy_workers.hpp"
#include "convoke/metrics/json.hpp"
#include "convoke/nn/backend.hpp"
#include "convoke/nn/plan/memory.hpp"
#include "convoke/nn/plan/network.hpp"
#include "convoke/nn/zoo.hpp"
#include "convoke/recipe/recipe.hpp"
#include "convoke/report/diagram.hpp"
#include "convoke/study/running/launch.hpp"
#include "training/network_diagram.hpp"

namespace convoke::app {
namespace {

struct SummaryOptions : RecipeOptions {
  bool plan = false;   ///< also print the primitives of a training step
  bool json = false;   ///< print only the sizes of the network
  bool toml = false;   ///< print only the recipe, with every default
  std::string figure;  ///< a file for a drawing of the network; empty: none
};

constexpr const char* kSummaryHelp = R"(Examples:
  convoke summary mnist-ensemble                    a recipe that comes with Convoke
  convoke summary my/recipe.toml --plan             the kernel of every pass of every layer
  convoke summary mnist-ddp --set train.convolution=direct --plan
  convoke summary resnet50                          a published network (docs/zoo.md lists them)
  convoke summary model.onnx                        a model file: ONNX, Keras or model.h5
  convoke summary resnet50 --json --set model.classes=10
  convoke summary mobilenet-v2 --figure network.svg  a drawing: SVG, PDF or PNG
  convoke summary mnist-ddp --toml > my.toml        a recipe to start from
)";

// The layout and the options of a training step of one micro-batch. The recipe must outlive it.
struct StepPlan {
  std::shared_ptr<const nn::ParameterLayout> layout;
  nn::PlanOptions options;
};

StepPlan micro_batch_of(const recipe::Recipe& recipe, const nn::Graph& graph) {
  const engine::StepOptions& step = recipe.train.step;
  nn::require_precision(step.precision, recipe.train.emulate_bf16);
  return {
      std::make_shared<nn::ParameterLayout>(graph, recipe.micro_batch(), step.convolution, step.precision),
      {.micro_batch = recipe.micro_batch(),
       .micro_batches = 1,
       .convolution = step.convolution,
       .precision = step.precision,
       .working_weights = true,
       .low_memory = step.low_memory,
       .loss = recipe.train.loss.get()}};
}

// Prints a line for each primitive of a training step: its kernel and its arithmetic.
void print_plan(const recipe::Recipe& recipe, const nn::Graph& graph) {
  const std::int64_t micro_batch = recipe.micro_batch();
  const StepPlan plan = micro_batch_of(recipe, graph);
  const nn::Network network(graph, plan.layout, plan.options);
  fmt::print("\nTraining step of one micro-batch of {} samples (of a batch of {}), {} of activations\n",
             micro_batch, recipe.train.step.batch, format_bytes(network.activation_bytes()));
  const nn::Backend backend = nn::backend();
  fmt::print("oneDNN {}, instruction set {}\n", backend.version, backend.instruction_set);
  fmt::print("{:<24} {:<26} {:>10}  {}\n", "node", "pass", "MFLOP", "kernel");
  double total = 0;
  for (const nn::PlanStep& step : network.steps()) {
    total += step.flops;
    const std::string flops = step.flops > 0 ? fmt::format("{:.1f}", step.flops / 1e6) : "";
    fmt::print("{:<24} {:<26} {:>10}  {}\n", step.node, step.what, flops, step.implementation);
  }
  fmt::print("{:<24} {:<26} {:>10.1f}\n", "", "all", total / 1e6);
}

// The sizes of a network that follow from its plan.
struct Sizes {
  double flops = 0;                  ///< of the forward pass of one sample, see nn::PlanStep
  double again = 0;                  ///< part of the operations of a step that train.memory = "low" repeats
  std::size_t activation_bytes = 0;  ///< of a training step of one micro-batch
};

Sizes sizes_of(const recipe::Recipe& recipe, const nn::Graph& graph) {
  const StepPlan plan = micro_batch_of(recipe, graph);
  const nn::Network network(graph, plan.layout, plan.options);
  double flops = 0, all = 0, again = 0;
  for (const nn::PlanStep& step : network.steps()) {
    if (step.what.starts_with("forward")) flops += step.flops;
    (step.again ? again : all) += step.flops;
  }
  return {flops / static_cast<double>(recipe.micro_batch()), all == 0 ? 0 : again / all,
          network.activation_bytes()};
}

// { "parameters": ..., "trainable": ..., "flops": ..., "activation_bytes": ... }
void print_json(const recipe::Recipe& recipe, const nn::Graph& graph) {
  const Sizes sizes = sizes_of(recipe, graph);
  fmt::print("{}\n", metrics::to_json(
                         Settings{{"parameters", graph.parameter_count()},
                                  {"trainable", graph.trainable_count()},
                                  {"flops", static_cast<std::int64_t>(sizes.flops)},
                                  {"activation_bytes", static_cast<std::int64_t>(sizes.activation_bytes)}}));
}

// "8.18 GFLOP", "0.83 MFLOP"
std::string flops_text(double flops) {
  const bool large = flops >= 1e9;
  return fmt::format("{:.2f} {}", flops / (large ? 1e9 : 1e6), large ? "GFLOP" : "MFLOP");
}

void print_sizes(const recipe::Recipe& recipe, const nn::Graph& graph) {
  const Sizes sizes = sizes_of(recipe, graph);
  fmt::print(
      "forward pass: {} for each sample, in convolutions and products (a multiplication and an addition are "
      "two)\n",
      flops_text(sizes.flops));
  fmt::print("memory: {} of activations in a training step of a micro-batch of {}\n",
             format_bytes(sizes.activation_bytes), counted(recipe.micro_batch(), "sample"));
  if (!recipe.train.step.low_memory) return;
  StepPlan normal = micro_batch_of(recipe, graph);
  normal.options.low_memory = false;
  fmt::print(
      "        {} with train.memory = \"normal\"; \"low\" repeats {:.0f} % of the operations of a step\n",
      format_bytes(nn::predict_activation_bytes(graph, *normal.layout, normal.options)), 100 * sizes.again);
}

// How many cores of this machine the micro-batches of a step keep busy, and what would use all. An ensemble
// with as many members as ranks can have one on each core.
void print_cores(const recipe::Recipe& recipe) {
  const bool votes = recipe.train.mode == "ensemble";
  const std::int64_t cores = std::ssize(study::cores_here());
  const std::int64_t members = !votes ? 1 : recipe.ensemble.members > 0 ? recipe.ensemble.members : cores;
  fmt::print("cores: {}\n",
             engine::describe_busy_cores(recipe.train.step.batch, recipe.micro_batch(), cores, members));
}

// How samples are normalized, and what published weights of the network expect.
void print_input(const recipe::Recipe& recipe) {
  fmt::print("input: data.normalize = \"{}\"", recipe.data.normalize);
  const std::string expected = recipe.model.zoo.empty() ? "" : nn::zoo_normalization(recipe.model.zoo);
  if (!expected.empty() && expected != recipe.data.normalize) {
    fmt::print("; published weights of {} expect \"{}\"", recipe.model.zoo, expected);
  }
  fmt::print("\n");
}

void write_figure(const recipe::Recipe& recipe, const nn::Graph& graph, const std::string& file) {
  report::draw_diagram(network_diagram(graph, recipe.name), file);
  fmt::print("wrote {}\n", file);
}

int summary(const SummaryOptions& options) {
  if (!options.figure.empty()) report::require_diagram(options.figure);

  // 1. The recipe, with the command line's changes, checked as a whole.
  const recipe::Recipe recipe = recipe::Recipe::load(options.recipe, options.changes);
  if (options.toml) {
    fmt::print("{}", recipe.to_toml());
    return EXIT_SUCCESS;
  }

  // 2. Its network.
  const nn::Graph graph = recipe.graph();
  if (options.json) {
    print_json(recipe, graph);
    return EXIT_SUCCESS;
  }
  fmt::print("{}{}{}\n\n{}", recipe.name, recipe.description.empty() ? "" : ": ", recipe.description,
             graph.summary());
  for (const std::string& note : recipe.model.notes) fmt::print("note: {}\n", note);
  if (nn::synchronizes(graph))
    fmt::print("batch norm: synchronized, over the whole batch of {}\n", recipe.train.step.batch);

  print_sizes(recipe, graph);
  print_cores(recipe);
  print_input(recipe);

  // 3. The kernels of a training step.
  if (options.plan) print_plan(recipe, graph);

  // 4. The drawing.
  if (!options.figure.empty()) write_figure(recipe, graph, options.figure);
  return EXIT_SUCCESS;
}

}  // namespace

std::function<int()> add_summary(CLI::App& parser) {
  auto options = std::make_shared<SummaryOptions>();
  add_recipe_options(parser, *options);
  parser.add_flag("--plan", options->plan, "Also show the kernels of a training step");
  CLI::Option* const json = parser.add_flag(
      "--json", options->json,
      "Print the sizes as JSON: parameters (with statistics), trainable, flops (of the forward pass "
      "of one sample; a multiplication and an addition are two) and activation_bytes (of a "
      "training step of one micro-batch)");
  add_option(parser, "--figure", options->figure, "FILE.svg|FILE.pdf|FILE.png",
             "Also draw the network into this file (by Graphviz); equal blocks in a row are drawn once")
      ->excludes(json);
  parser.add_flag("--toml", options->toml, "Print the complete recipe, with every default")
      ->excludes("--figure");
  parser.footer(kSummaryHelp);
  return [options] { return summary(*options); };
}

}  // namespace convoke::app
