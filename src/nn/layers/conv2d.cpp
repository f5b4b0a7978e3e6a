#include "convoke/nn/layers/conv2d.hpp"

#include <fmt/format.h>

#include "convoke/core/error.hpp"
#include "convoke/nn/layer_reader.hpp"
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

// The kernel of conv2d_max_pool.hpp. With more channels or another window, oneDNN's faster arithmetic is
// worth more than the saved passes over memory.
LayerTraits Conv2d::traits() const {
  const Conv2dOptions& o = options_;
  return {.linear_weight = "weight",
          .applies_relu = true,
          .applies_post_ops = true,
          .pools_image = o.filters % 16 == 0 && o.kernel == Extent(3) && o.stride == Extent(1) &&
                         o.dilation == Extent(1) && o.groups == 1 && o.padding == Padding::valid(),
          .takes_zero_border = o.padding.kind != Padding::Kind::kSame};
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

LayerPtr Conv2d::make(LayerReader& read) {
  Conv2dOptions o;
  o.filters = read.require_count("filters", "output channels");
  o.kernel = read.require_extent("kernel", "size of the window");
  o.stride = read.extent("stride", o.stride, "step between windows");
  o.padding = read.padding("padding", o.padding, "zeroes around the image");
  o.dilation = read.extent("dilation", o.dilation, "distance between the elements of a window");
  o.groups = read.count("groups", o.groups, "number of groups; each group reads only its own channels");
  o.bias = read.get("bias", o.bias, "add a learned bias");
  o.initializers = read.initializers();
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
