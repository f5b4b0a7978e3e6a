#include "convoke/nn/split.hpp"

#include <algorithm>
#include <cassert>
#include <functional>
#include <numeric>

#include "convoke/nn/freeze.hpp"
#include "convoke/nn/layers/reshape.hpp"
#include "nn/plan/plan_builder.hpp"

namespace convoke::nn {
namespace {

/// The input of a suffix_of() a network. It converts the plain input to the layout and type that the value of
/// node `last` has in the whole network, so that the layers after it add in the same order as there. Only
/// suffixes contain it, so it is neither in the table nor in files.
class FeatureInput final : public Layer {
 public:
  FeatureInput(std::shared_ptr<const Graph> whole, std::size_t last)
      : whole_(std::move(whole)), last_(last) {}
  std::string_view type() const override { return "identity"; }
  LayerTraits traits() const override { return {.is_view = true, .is_frozen = true}; }
  void compile(PlanBuilder& plan, const Node& node) const override;

 private:
  std::shared_ptr<const Graph> whole_;
  std::size_t last_;
};

/// Unlike elements_of() a Desc, without the padding of a blocked layout.
dnnl::memory::dim elements_without_padding(const Dims& dims) {
  return std::accumulate(dims.begin(), dims.end(), dnnl::memory::dim{1}, std::multiplies<>());
}

void FeatureInput::compile(PlanBuilder& plan, const Node& node) const {
  PlanOptions options = plan.options();
  options.training = options.working_weights = false;  // forward alone determines values
  PlanBuilder dry_run(*whole_, nullptr, options);
  dry_run.compile();
  const Desc wanted = dry_run.value(last_).desc;
  const Dims dims = dims_of(wanted);
  Tensor x = plan.value(node.inputs[0]);
  // A flattened image keeps its four dims in a plan.
  if (dims.size() == 4 && dims_of(x.desc).size() == 2) {
    x.desc = plan.plain_desc(Shape{dims[1], dims[2], dims[3]}, type_of(x.desc));
  }
  // If a fused step of the whole network stores only a later value, this one has no layout there.
  const bool stored = elements_without_padding(dims_of(x.desc)) == elements_without_padding(dims);
  plan.set_value(node.index, stored ? plan.reordered(x, wanted, node) : x);
  plan.on_backward([=, &plan, &node] {
    if (const Tensor dy = plan.gradient(node.index)) plan.add_gradient(node.inputs[0], dy, node);
  });
}

/// Adds `node` of another graph to `graph`, in which its inputs have the same numbers.
void copy(const Node& node, Graph& graph) {
  if (node.parameters_of != node.index) {
    graph.share(node.parameters_of, node.inputs, node.name);
    return;
  }
  graph.add(node.layer, node.inputs, node.name);
  if (!node.parameters.empty()) graph.set_options(node.index, node.options);
}

/// Returns the number of first nodes whose output depends on their inputs alone, in all steps.
std::size_t fixed_nodes(const Graph& graph) {
  const std::vector<bool> inference = inference_nodes(graph);
  const auto& nodes = graph.nodes();
  const auto end = std::find_if(nodes.begin() + 1, nodes.end(), [&](const Node& node) {
    return !is_settled(graph, node) || (node.layer->traits().draws_random && !inference[node.index]);
  });
  return static_cast<std::size_t>(end - nodes.begin());
}

}  // namespace

bool separates(const Graph& graph, std::size_t last) {
  return std::all_of(graph.nodes().begin() + static_cast<std::ptrdiff_t>(last) + 1, graph.nodes().end(),
                     [&](const Node& node) {
                       return node.parameters_of > last &&
                              std::all_of(node.inputs.begin(), node.inputs.end(),
                                          [&](std::size_t input) { return input >= last; });
                     });
}

std::size_t frozen_prefix(const Graph& graph) {
  std::size_t last = std::min(fixed_nodes(graph), graph.nodes().size() - 1) - 1;  // leaves at least one node
  while (!separates(graph, last)) --last;
  const bool learned =
      std::any_of(graph.nodes().begin(), graph.nodes().begin() + static_cast<std::ptrdiff_t>(last) + 1,
                  [](const Node& node) { return !node.parameters.empty(); });
  return learned ? last : 0;
}

std::string first_not_fixed(const Graph& graph) {
  const std::size_t first = fixed_nodes(graph);
  return first == graph.nodes().size() ? std::string() : graph.node(first).name;
}

Graph prefix_of(const Graph& graph, std::size_t last) {
  Graph prefix(graph.input_shape());
  for (std::size_t i = 1; i <= last; ++i) copy(graph.node(i), prefix);
  return prefix;
}

Graph suffix_of(const Graph& graph, std::size_t last) {
  assert(separates(graph, last));
  Graph suffix(graph.node(last).shape);
  suffix.add(std::make_shared<FeatureInput>(std::make_shared<const Graph>(graph), last), {0},
             graph.node(1).name);
  for (std::size_t i = 2; i <= last; ++i)
    suffix.add(std::make_shared<Identity>(), {i - 1}, graph.node(i).name);
  for (std::size_t i = last + 1; i < graph.nodes().size(); ++i) copy(graph.node(i), suffix);
  return suffix;
}

}  // namespace convoke::nn
