#include "convoke/nn/layers/conv2d.hpp"

#include <fmt/format.h>

#include "convoke/core/error.hpp"
#include "nn/layers/conv2d_max_pool.hpp"
#include "nn/layers/convolution.hpp"
#include "nn/plan/plan_builder.hpp"

namespace convoke::nn {

Shape Conv2d::output_shape(std::span<const ValueSpec> inputs) const {
  const Conv2dOptions& o = options_;
  const Window2d window = slide(inputs[0], o.kernel, o.stride, o.dilation, o.padding);
  if (o.groups < 1 || inputs[0][0] % o.groups != 0 || o.filters % o.groups != 0) {
    throw Error(fmt::format("{} groups must divide both its {} input channels and its {} filters", o.groups,
                            inputs[0][0], o.filters),
                "choose groups that divide both");
  }
  return {o.filters, window.height.output, window.width.output};
}

std::vector<ParameterSpec> Conv2d::parameters(std::span<const ValueSpec> inputs) const {
  const Conv2dOptions& o = options_;
  const std::int64_t in = inputs[0][0] / o.groups;
  const std::int64_t area = o.kernel.height * o.kernel.width;
  std::vector<ParameterSpec> specs{{.name = "weight",
                                    .shape = {o.filters, in, o.kernel.height, o.kernel.width},
                                    .initializer = o.initializers.weight,
                                    .fan_in = in * area,
                                    .fan_out = o.filters * area}};
  if (o.bias) {
    specs.push_back({.name = "bias",
                     .shape = {o.filters},
                     .initializer = o.initializers.bias,
                     .fan_in = in * area,
                     .fan_out = o.filters * area});
  }
  return specs;
}

Settings Conv2d::settings() const {
  const Conv2dOptions& o = options_;
  Settings settings{{"layer", "conv2d"},
                    {"filters", o.filters},
                    {"kernel", write_extent(o.kernel)},
                    {"stride", write_extent(o.stride)},
                    {"padding", write_padding(o.padding)},
                    {"dilation", write_extent(o.dilation)},
                    {"groups", o.groups},
                    {"bias", o.bias}};
  o.initializers.write(settings);
  return settings;
}

LayerPtr Conv2d::make(SettingsReader& read) {
  Conv2dOptions o;
  o.filters = read.require_int("filters");
  if (o.filters < 1) read.fail(fmt::format("\"filters\" must be at least 1, but is {}", o.filters));
  read.require_value("kernel");
  o.kernel = read_extent(read, "kernel", o.kernel);
  o.stride = read_extent(read, "stride", o.stride);
  o.padding = read_padding(read, "padding", o.padding);
  o.dilation = read_extent(read, "dilation", o.dilation);
  o.groups = read.get("groups", o.groups);
  o.bias = read.get("bias", o.bias);
  o.initializers = Initializers::read(read);
  return std::make_shared<Conv2d>(o);
}

void Conv2d::compile(PlanBuilder& plan, const Node& node) const {
  if (plan.fusion(node).max_pool != nullptr) return compile_conv2d_max_pool(plan, node, options_);
  compile_convolution(plan, node, options_);
}

Symbol conv2d(Symbol x, Conv2dOptions options) {
  return {x.graph, x.graph->add(std::make_shared<Conv2d>(options), {x.node})};
}

}  // namespace convoke::nn
