#include "convoke/nn/layers/embedding.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "convoke/core/error.hpp"
#include "nn/kernels/embedding.hpp"
#include "nn/kernels/instruction_sets.hpp"
#include "nn/plan/plan_builder.hpp"
#include "nn/plan/time_major.hpp"

namespace convoke::nn {
namespace {

bool read_by_time(const Graph& graph, const Node& node) {
  return std::any_of(graph.nodes().begin(), graph.nodes().end(), [&](const Node& reader) {
    return !reader.inputs.empty() && reader.inputs[0] == node.index && reader.layer->traits().reads_by_time;
  });
}

}  // namespace

Shape Embedding::output_shape(std::span<const ValueSpec> inputs) const {
  if (inputs[0].type != ValueType::kToken) {
    throw Error(
        fmt::format("needs tokens (N, L), but its input is {}", inputs[0].describe()),
        "make it the first layer of a network whose input is tokens; use dense or conv2d for numbers");
  }
  return {inputs[0][0], options_.units};
}

std::vector<ParameterSpec> Embedding::parameters(std::span<const ValueSpec>) const {
  return {{.name = "weight", .shape = {options_.vocabulary, options_.units}, .initializer = "uniform"}};
}

Embedding::Keys Embedding::keys() {
  static constexpr std::array kKeys{
      key<&EmbeddingOptions::vocabulary>({.name = "vocabulary",
                                          .range = kAtLeastOne,
                                          .required = true,
                                          .help = "number of tokens, which are 0 to vocabulary - 1"}),
      key<&EmbeddingOptions::units>(
          {.name = "units", .range = kAtLeastOne, .required = true, .help = "numbers for each token"})};
  return kKeys;
}

void Embedding::compile(PlanBuilder& plan, const Node& node) const {
  const Tensor x = plan.value(node.inputs[0]);
  const std::int64_t rows = options_.vocabulary;
  plan.prefer(node, "weight", Desc({rows, options_.units}, kFloat, Format::ab));
  const Tensor weight = plan.parameter(node, "weight");
  const SequenceExtents extents{plan.samples(), node.shape[0], options_.units};
  const bool time_major = read_by_time(plan.graph(), node);
  const Tensor y = plan.allocate(time_major ? time_major_desc(extents, plan.stored())
                                            : plan.plain_desc(node.shape, plan.stored()));
  const SequenceLayout layout{extents.samples, extents.length, extents.features,
                              time_major ? extents.features : extents.length * extents.features,
                              time_major ? extents.samples * extents.features : extents.features};
  plan.add_typed_kernel(
      y.desc, node, "forward",
      [=, &node]<class T>(const Frame& frame) {
        const std::int32_t* tokens = frame.integers(x.ref);
        const std::int64_t bad =
            kernels<EmbeddingKernels<T>>().forward(layout, tokens, frame.at(weight), rows, frame.at<T>(y));
        if (bad < 0) return;
        const auto sample = static_cast<std::size_t>(bad / layout.length);
        const auto id = frame.key.samples.empty() ? sample : frame.key.samples[sample];
        throw Error(fmt::format("{}: sample {} has token {} at position {}, but the vocabulary is 0..{}",
                                node.name, id, tokens[bad], bad % layout.length, rows - 1),
                    "set vocabulary to one more than the largest token of the dataset");
      },
      {x.ref, weight.ref, y.ref}, y);
  plan.set_value(node.index, y);
  plan.on_gradient(node, [=, &plan, &node](const Tensor& dy) {
    const Tensor gradient = plan.gradient_of(node, "weight");
    plan.add_typed_kernel(dy.desc, node, "backward weights",
                          [=]<class T>(const Frame& frame) {
                            kernels<EmbeddingKernels<T>>().backward(
                                layout, frame.integers(x.ref), frame.at<T>(dy), rows, frame.at(gradient));
                          },
                          {x.ref, dy.ref, gradient.ref}, gradient, 0, {plan.slot(node, "weight")});
  });
}

}  // namespace convoke::nn
