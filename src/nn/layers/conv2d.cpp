#include "convoke/nn/layers/conv2d.hpp"

#include <fmt/format.h>

#include <array>

#include "convoke/core/error.hpp"
#include "nn/layers/convolution.hpp"
#include "nn/layers/shared_keys.hpp"

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
  return weight_and_bias({o.filters, inputs[0][0] / o.groups, o.kernel.height, o.kernel.width}, o.bias,
                         o.initializers);
}

// The kernel of kernels/conv2d_max_pool.hpp. With more channels or another window, oneDNN's faster arithmetic
// is worth more than the saved passes over memory.
LayerTraits Conv2d::traits() const {
  const Conv2dOptions& o = options_;
  return {.linear_weight = "weight",
          .applies_relu = true,
          .applies_post_ops = true,
          .pools_image = o.filters % 16 == 0 && o.kernel == Extent(3) && o.stride == Extent(1) &&
                         o.dilation == Extent(1) && o.groups == 1 && o.padding == Padding::valid(),
          .takes_zero_border = o.padding.kind != Padding::Kind::kSame};
}

Conv2d::Keys Conv2d::keys() {
  using O = Conv2dOptions;
  static constexpr std::array kKeys{kFilters<O>, kKernel<O>,      kStride<O>,
                                    kPadding<O>, kDilation<O>,    kGroups<O>,
                                    kBias<O>,    kInitializer<O>, kBiasInitializer<O>};
  return kKeys;
}

void Conv2d::compile(PlanBuilder& plan, const Node& node) const {
  if (plan.fusion(node).max_pool != nullptr) return compile_conv2d_max_pool(plan, node, options_);
  compile_convolution(plan, node, options_);
}

}  // namespace convoke::nn
