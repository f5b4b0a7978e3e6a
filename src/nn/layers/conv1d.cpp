#include "convoke/nn/layers/conv1d.hpp"

#include <fmt/format.h>

#include <array>

#include "convoke/core/error.hpp"
#include "nn/layers/convolution.hpp"
#include "nn/layers/shared_keys.hpp"

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
  return weight_and_bias({o.filters, inputs[0][1] / o.groups, o.kernel}, o.bias);
}

Conv1d::Keys Conv1d::keys() {
  using O = Conv1dOptions;
  static constexpr std::array kKeys{kFilters<O>,
                                    kKernel<O>,
                                    kStride<O>,
                                    sequence_padding<&O::padding, true>(
                                        {.name = "padding", .help = "zeroes before and after the sequence"}),
                                    kDilation<O>,
                                    kGroups<O>,
                                    kBias<O>};
  return kKeys;
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

}  // namespace convoke::nn
