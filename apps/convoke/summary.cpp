#include "summary.hpp"

#include <fmt/format.h>

#include "convoke/core/text.hpp"
#include "convoke/metrics/json.hpp"
#include "convoke/nn/backend.hpp"
#include "convoke/nn/plan/network.hpp"
#include "convoke/recipe/recipe.hpp"

namespace convoke::app {
namespace {

constexpr const char* kSummaryExamples = R"(Examples:
  convoke summary mnist-ensemble                 a recipe that comes with Convoke
  convoke summary my/recipe.toml --plan          the kernels chosen for every pass of every layer
  convoke summary mnist-ddp --set train.convolution=direct --plan
  convoke summary resnet50                       a published network (docs/zoo.md has the table)
  convoke summary resnet50 --json --set model.classes=10
  convoke summary mnist-ddp --toml > my.toml     a recipe to start from
)";

// The plan of a training step of one lane. `loss` must outlive it.
nn::Network lane_of(const recipe::Recipe& recipe, const nn::Graph& graph, const nn::Loss& loss) {
  nn::require_precision(recipe.train.precision, recipe.train.emulate_bf16);
  auto layout = std::make_shared<nn::ParameterLayout>(graph, recipe.lane(), recipe.train.convolution,
                                                      recipe.train.precision);
  return {graph,
          std::move(layout),
          {.lane = recipe.lane(),
           .lanes = 1,
           .convolution = recipe.train.convolution,
           .precision = recipe.train.precision,
           .working_weights = true,
           .loss = &loss}};
}

// One line per primitive of a training step: which kernel, and how much it computes.
void print_plan(const recipe::Recipe& recipe, const nn::Graph& graph) {
  const std::int64_t lane = recipe.lane();
  const nn::LossPtr loss = nn::make_loss(recipe.train.loss);
  const nn::Network network = lane_of(recipe, graph, *loss);
  fmt::print("\nTraining step of one lane of {} samples (of a batch of {}), {} of activations\n", lane,
             recipe.train.batch, format_bytes(network.activation_bytes()));
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

// { "parameters": ..., "trainable": ..., "flops": ..., "activation_bytes": ... }
void print_sizes(const recipe::Recipe& recipe, const nn::Graph& graph) {
  const nn::LossPtr loss = nn::make_loss(recipe.train.loss);
  const nn::Network network = lane_of(recipe, graph, *loss);
  double flops = 0;
  for (const nn::PlanStep& step : network.steps()) {
    if (step.what.starts_with("forward")) flops += step.flops;
  }
  fmt::print("{}\n", metrics::to_json(Settings{
                         {"parameters", graph.parameter_count()},
                         {"trainable", graph.trainable_count()},
                         {"flops", static_cast<std::int64_t>(flops / static_cast<double>(recipe.lane()))},
                         {"activation_bytes", static_cast<std::int64_t>(network.activation_bytes())}}));
}

}  // namespace

void add_summary(CLI::App& parser, SummaryOptions& options) {
  add_recipe_options(parser, options);
  parser.add_flag("--plan", options.plan, "Show the kernels of a training step as well");
  parser.add_flag(
      "--json", options.json,
      "Print instead, as JSON: parameters (statistics included), trainable, flops (two for each "
      "multiplication and addition of convolutions and products, forward, one sample) and activation_bytes "
      "(of a training step of one lane)");
  parser.add_flag("--toml", options.toml, "Print the recipe with every default written out instead");
  parser.footer(kSummaryExamples);
}

int summary(const SummaryOptions& options) {
  // 1. The recipe, with the command line's changes, checked as a whole.
  const recipe::Recipe recipe = recipe::Recipe::load(options.recipe, options.changes);
  if (options.toml) {
    fmt::print("{}", recipe.to_toml());
    return EXIT_SUCCESS;
  }

  // 2. Its network.
  const nn::Graph graph = recipe.graph();
  if (options.json) {
    print_sizes(recipe, graph);
    return EXIT_SUCCESS;
  }
  fmt::print("{}{}{}\n\n{}", recipe.name, recipe.description.empty() ? "" : ": ", recipe.description,
             graph.summary());
  if (nn::synchronizes(graph))
    fmt::print("batch norm: synchronized, over the whole batch of {}\n", recipe.train.batch);

  // 3. What a step will run.
  if (options.plan) print_plan(recipe, graph);
  return EXIT_SUCCESS;
}

}  // namespace convoke::app
