#include "convoke/nn/layers/conv1d.hpp"

#include <fmt/format.h>

#include "convoke/core/error.hpp"
#include "convoke/nn/layer_reader.hpp"
#include "nn/layers/convolution.hpp"

namespace convoke::nn {

Shape Conv1d::output_shape(std::span<const ValueSpec> inputs) const {
  const Conv1dOptions& o = options_;
  const Window window = slide_sequence(inputs[0], o.kernel, o.stride, o.dilation, o.padding);
  if (o.groups < 1 || inputs[0][1] % o.groups != 0 || o.filters % o.groups != 0) {
    throw Error(fmt::format("{} groups must divide both the {} features of its input {} and its {} filters",
                            o.groups, inputs[0][1], inputs[0].with_batch(), o.filters),
                "choose groups that divide both");
  }
  return {window.output, o.filters};
}

std::vector<ParameterSpec> Conv1d::parameters(std::span<const ValueSpec> inputs) const {
  const Conv1dOptions& o = options_;
  const std::int64_t in = inputs[0][1] / o.groups;
  std::vector<ParameterSpec> specs{{.name = "weight",
                                    .shape = {o.filters, in, o.kernel},
                                    .initializer = Initializer::kGlorotUniform,
                                    .fan_in = in * o.kernel,
                                    .fan_out = o.filters * o.kernel}};
  if (o.bias) specs.push_back({.name = "bias", .shape = {o.filters}});
  return specs;
}

Settings Conv1d::settings() const {
  const Conv1dOptions& o = options_;
  return {{"layer", "conv1d"},
          {"filters", o.filters},
          {"kernel", o.kernel},
          {"stride", o.stride},
          {"padding", write_padding1d(o.padding)},
          {"dilation", o.dilation},
          {"groups", o.groups},
          {"bias", o.bias}};
}

LayerPtr Conv1d::make(LayerReader& read) {
  Conv1dOptions o;
  o.filters = read.require_count("filters", "output channels");
  o.kernel = read.require_count("kernel", "length of the window");
  o.stride = read.count("stride", o.stride, "step between windows");
  o.padding = read.padding1d("padding", o.padding, true, "zeroes before and after the sequence");
  o.dilation = read.count("dilation", o.dilation, "distance between the elements of a window");
  o.groups = read.count("groups", o.groups, "number of groups; each group reads only its own channels");
  o.bias = read.get("bias", o.bias, "add a learned bias");
  return std::make_shared<Conv1d>(o);
}

void Conv1d::compile(PlanBuilder& plan, const Node& node) const {
  const Conv1dOptions& o = options_;
  compile_convolution(plan, node,
                      {.filters = o.filters,
                       .kernel = {1, o.kernel},
                       .stride = {1, o.stride},
                       .padding = o.padding,
                       .dilation = {1, o.dilation},
                       .groups = o.groups,
                       .bias = o.bias});
}

Symbol conv1d(Symbol x, Conv1dOptions options) {
  return {x.graph, x.graph->add(std::make_shared<Conv1d>(options), {x.node})};
}

}  // namespace convoke::nn
