#include "commands.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <vector>

#include "cli/options.hpp"
#include "convoke/core/lookup.hpp"
#include "convoke/core/text.hpp"
#include "convoke/engine/busy_workers.hpp"
#include "convoke/metrics/json.hpp"
#include "convoke/nn/backend.hpp"
#include "convoke/nn/layer_table.hpp"
#include "convoke/nn/plan/network.hpp"
#include "convoke/nn/zoo.hpp"
#include "convoke/recipe/recipe.hpp"
#include "convoke/report/diagram.hpp"
#include "convoke/study/running/configuration_runner.hpp"

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

// How many cores of this machine, or threads of run.threads, the micro-batches of a step keep busy, and what
// would use all. An ensemble with as many members as ranks can have one on each core.
void print_cores(const recipe::Recipe& recipe) {
  const bool votes = recipe.train.mode == "ensemble";
  const int threads = recipe.run.execution.threads;
  const std::int64_t cores = threads > 0 ? threads : std::ssize(study::cores_here());
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

std::string family_of(const nn::Node& node, const std::vector<nn::LayerHelp>& guide) {
  if (node.layer == nullptr) return "input";
  const auto help = std::ranges::find(guide, node.layer->type(), &nn::LayerHelp::name);
  return help == guide.end() ? "" : help->family;
}

std::size_t color_of(const std::string& family) {
  constexpr std::array<std::string_view, 7> kColors{"input",     "convolution", "pooling",      "merging",
                                                    "recurrent", "activation",  "normalization"};
  const auto found = std::ranges::find(kColors, family);
  return found == kColors.end() ? 0 : static_cast<std::size_t>(found - kColors.begin());
}

bool may_share_a_box(const std::string& family) {
  return family == "normalization" || family == "activation" || family == "regularization";
}

// "3×2", or "3" if height and width are equal or there is only a length.
std::optional<std::string> extent(const Settings& settings, const char* key) {
  const std::vector<double> sides = numbers_at(settings, key);
  if (sides.size() == 2) return fmt::format("{:g}×{:g}", sides[0], sides[1]);
  const std::optional<std::int64_t> side = count_at(settings, key);
  return side ? std::optional(std::to_string(*side)) : std::nullopt;
}

// "3×3"; "3" along a sequence.
std::optional<std::string> window(const Settings& settings, const char* key) {
  const std::optional<std::string> sides = extent(settings, key);
  const bool square = sides && sides->find("×") == std::string::npos;
  return square && !text_at(settings, "layer").ends_with("1d") ? *sides + "×" + *sides : sides;
}

// "conv2d 3×3, 64, stride 2"
std::string title_of(const nn::Node& node) {
  if (node.layer == nullptr) return "input";
  const Settings settings = node.layer->settings();
  std::vector<std::string> facts;
  for (const char* key : {"kernel", "size"}) {
    if (const auto sides = window(settings, key)) facts.push_back(*sides);
  }
  for (const char* key : {"vocabulary", "filters", "units"}) {
    if (const auto count = count_at(settings, key)) facts.push_back(format_count(*count));
  }
  if (const auto groups = count_at(settings, "groups"); groups.value_or(1) > 1)
    facts.push_back(format_count(*groups) + " groups");
  const std::optional<std::string> stride = extent(settings, "stride");
  if (stride && *stride != "1" && stride != extent(settings, "size")) facts.push_back("stride " + *stride);
  // A rate of stochastic depth rises from block to block, which are otherwise equal.
  if (const double rate = number_at(settings, "rate"); rate > 0 && !node.layer->traits().ends_branch)
    facts.push_back(fmt::format("{:g}", rate));
  return std::string(node.layer->type()) + (facts.empty() ? "" : " " + join(facts));
}

// "64 × 56 × 56", "128 values", "300 tokens"
std::string shape_of(const nn::ValueSpec& value) {
  if (value.rank() == 1 && value.type == nn::ValueType::kReal) return counted(value[0], "value");
  std::string text;
  for (const std::int64_t extent : value.extents())
    text += (text.empty() ? "" : " × ") + std::to_string(extent);
  return text + (value.type == nn::ValueType::kToken ? " tokens" : "");
}

// The box that shows these nodes.
report::DiagramBox box_for(const std::vector<const nn::Node*>& nodes, const nn::Graph& graph,
                           const std::vector<nn::LayerHelp>& guide) {
  report::DiagramBox box{.title = title_of(*nodes.front()),
                         .color = color_of(family_of(*nodes.front(), guide))};
  std::vector<std::string> further;
  std::int64_t parameters = 0;
  bool shared = false;
  for (const nn::Node* node : nodes) {
    if (node != nodes.front()) further.push_back(title_of(*node));
    for (const nn::ParameterSpec& parameter : node->parameters) parameters += parameter.shape.elements();
    shared = shared || node->parameters_of != node->index;
  }
  if (!further.empty()) box.lines.push_back(join(further));
  box.lines.push_back(shape_of(nodes.back()->shape));
  if (shared) {
    box.lines.push_back("parameters of " + graph.owner(*nodes.front()).name);
  } else if (parameters > 0) {
    box.lines.push_back(counted(parameters, "parameter"));
  }
  return box;
}

// Returns the boxes that show a network: a box for each layer with its hyper-parameters, output shape and
// parameters. A normalization, activation or regularization that is the only reader of a layer is a line in
// that layer's box.
report::Diagram network_diagram(const nn::Graph& graph, const std::string& title) {
  const std::vector<nn::LayerHelp> guide = nn::layer_guide();
  const std::vector<nn::Node>& nodes = graph.nodes();
  std::vector<std::size_t> readers(nodes.size());
  for (const nn::Node& node : nodes) {
    for (const std::size_t input : node.inputs) ++readers[input];
  }

  // 1. The nodes of each box, and the box of each node.
  std::vector<std::vector<const nn::Node*>> boxes;
  std::vector<std::size_t> box_of(nodes.size());
  for (const nn::Node& node : nodes) {
    const bool joins = may_share_a_box(family_of(node, guide)) && node.inputs.size() == 1 &&
                       node.inputs.front() != 0 && readers[node.inputs.front()] == 1;
    box_of[node.index] = joins ? box_of[node.inputs.front()] : boxes.size();
    if (!joins) boxes.emplace_back();
    boxes[box_of[node.index]].push_back(&node);
  }

  // 2. Their texts and arrows.
  report::Diagram diagram{title, {}};
  for (const std::vector<const nn::Node*>& shown : boxes) {
    report::DiagramBox& box = diagram.boxes.emplace_back(box_for(shown, graph, guide));
    for (const std::size_t input : shown.front()->inputs) box.inputs.push_back(box_of[input]);
  }
  return diagram;
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
  json->excludes("--plan");
  add_option(parser, "--figure", options->figure, "FILE.svg|FILE.pdf|FILE.png",
             "Also draw the network into this file (by Graphviz); equal blocks in a row are drawn once")
      ->excludes(json);
  parser.add_flag("--toml", options->toml, "Print the complete recipe, with every default")
      ->excludes(json)
      ->excludes("--plan")
      ->excludes("--figure");
  parser.footer(kSummaryHelp);
  return [options] { return summary(*options); };
}

}  // namespace convoke::app
