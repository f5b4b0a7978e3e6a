// zoo_write_plans: prints what training and prediction of every recipe and every network of the zoo execute.
// zoo_write_plans NAME: prints all steps of one of them, one a line.
// The text is the same on all processors that have AVX2: oneDNN is held to that instruction set and to one
// thread. Memory for the scratch of primitives is left out, because it follows from the sizes of caches.
#include <fmt/format.h>

#include <exception>
#include <iostream>
#include <map>
#include <memory>

#include "convoke/core/checksum.hpp"
#include "convoke/nn/backend.hpp"
#include "convoke/nn/inference_graph.hpp"
#include "convoke/nn/plan/network.hpp"
#include "convoke/nn/plan/parameters.hpp"
#include "convoke/nn/zoo.hpp"
#include "convoke/recipe/library.hpp"
#include "convoke/recipe/recipe.hpp"
#include "nn/plan/arena.hpp"
#include "nn/plan/plan_builder.hpp"

using namespace convoke;
using namespace convoke::nn;

namespace {

/// Returns oneDNN's name of a layout, and the type unless it is fp32: "aBcd8b", "ab other".
std::string layout_of(const Desc& desc) {
  const BlockedFormat format = blocked_format(desc);
  if (!format.blocked) return "opaque";
  std::vector<std::size_t> axes(format.strides.size());
  for (std::size_t i = 0; i < axes.size(); ++i) axes[i] = i;
  std::ranges::stable_sort(axes, std::ranges::greater(), [&](std::size_t i) { return format.strides[i]; });
  std::string text;
  for (const std::size_t axis : axes) {
    const bool split = std::ranges::any_of(
        format.inner, [&](const auto& block) { return block.second == static_cast<std::int64_t>(axis); });
    text += static_cast<char>((split ? 'A' : 'a') + axis);
  }
  // A block that is a whole axis is a *, so that weights of all sizes in one order are one kind.
  for (const auto& [size, axis] : format.inner) {
    const bool whole = size == dims_of(desc)[static_cast<std::size_t>(axis)];
    text += whole ? "*" : std::to_string(size);
    text += static_cast<char>('a' + axis);
  }
  if (type_of(desc) != kFloat) text += " other";
  return text;
}

/// The layouts of a step's arguments without scratch memory, in the order in which the step was given them.
std::string layouts_of(const Step& step) {
  if (step.kernel) return step.output ? layout_of(step.output.desc) : "";
  std::string text;
  for (const auto& [argument, tensor] : step.arguments) {
    if (argument == DNNL_ARG_SCRATCHPAD) continue;
    text += (text.empty() ? "" : ", ") + layout_of(tensor.desc);
  }
  return text;
}

struct Plan {
  std::vector<std::string> steps;                            ///< node, pass, kernel, layouts
  std::vector<std::pair<std::string, int>> kinds;            ///< the same with the layer's type, and how many
  std::size_t activations = 0, parameters = 0, working = 0;  ///< bytes
};

Plan plan_of(const Graph& graph, const ParameterLayout& layout, const PlanOptions& options) {
  CompiledPlan compiled = compile(graph, &layout, options);
  Plan plan;
  plan.parameters = layout.size() * sizeof(float);
  plan.working = predict_working_bytes(layout);
  std::map<std::string, std::size_t> places;
  for (const auto* list : {&compiled.forward, &compiled.backward}) {
    for (const Step& step : *list) {
      const Node& node = graph.nodes()[graph.find(step.info.node)];
      const std::string_view type = node.layer == nullptr ? "input" : node.layer->type();
      const std::string rest =
          fmt::format(" | {} | {} | {}", step.info.what, step.info.implementation, layouts_of(step));
      plan.steps.push_back(step.info.node + rest);
      const std::string kind = fmt::format("{}{}", type, rest);
      const auto [place, added] = places.try_emplace(kind, plan.kinds.size());
      if (added) plan.kinds.emplace_back(kind, 0);
      ++plan.kinds[place->second].second;
      for (const auto& [argument, tensor] : step.arguments) {
        if (argument == DNNL_ARG_SCRATCHPAD && tensor.ref.place == Ref::Place::kActivation)
          compiled.buffer_bytes[tensor.ref.id] = 0;
      }
    }
  }
  plan.activations = place_buffers(compiled).bytes;
  return plan;
}

void print(const Plan& plan, const std::string& title, bool all) {
  std::string text;
  for (const std::string& step : plan.steps) text += step + "\n";
  fmt::print(
      "{}: {} steps (checksum {:08x}); bytes: {} of activations, {} of parameters, {} of other forms of "
      "weights\n",
      title, plan.steps.size(), crc32(std::as_bytes(std::span(text))), plan.activations, plan.parameters,
      plan.working);
  if (all)
    fmt::print("{}", text);
  else
    for (const auto& [kind, count] : plan.kinds) fmt::print("{:4} {}\n", count, kind);
}

void print_plans(const std::string& name, bool all) {
  const recipe::Recipe recipe = recipe::Recipe::load(name);
  const Graph graph = recipe.graph();
  const LossPtr loss = recipe.train.loss;
  const ParameterLayout layout(graph, recipe.micro_batch(), recipe.train.step.convolution);
  print(plan_of(graph, layout,
                {.micro_batch = recipe.micro_batch(),
                 .convolution = recipe.train.step.convolution,
                 .working_weights = true,
                 .loss = loss.get()}),
        fmt::format("\n{}, training step of {} samples", name, recipe.micro_batch()), all);

  constexpr std::int64_t kChunk = 32;
  const InferenceGraph folded(graph);
  const ParameterLayout inference(folded.graph(), kChunk, recipe.train.step.convolution, Precision::kFloat32,
                                  false, true);
  print(plan_of(folded.graph(), inference,
                {.micro_batch = kChunk,
                 .training = false,
                 .convolution = recipe.train.step.convolution,
                 .working_weights = true,
                 .post_ops = true,
                 .loss = loss.get()}),
        fmt::format("{}, prediction of {} samples", name, kChunk), all);
}

}  // namespace

int main(int argc, char** argv) try {
  if (dnnl::set_max_cpu_isa(dnnl::cpu_isa::avx2) != dnnl::status::success)
    throw std::runtime_error("no AVX2");
  set_primitive_threads(1);
  if (argc > 1) {
    print_plans(argv[1], true);
    return EXIT_SUCCESS;
  }
  const Backend here = backend();
  fmt::print("oneDNN {}, {}\n", here.version, here.instruction_set);
  fmt::print(
      "count, layer | pass | kernel | layouts of its arguments, or of the result of a kernel of Convoke\n");
  for (const std::string& name : recipe::recipe_names()) print_plans(name, false);
  for (const std::string& name : zoo_names()) print_plans(name, false);
  return EXIT_SUCCESS;
} catch (const std::exception& error) {
  std::cerr << "error: " << error.what() << "\n";
  return EXIT_FAILURE;
}
