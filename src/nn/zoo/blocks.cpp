#include "nn/zoo/blocks.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace convoke::nn {

Symbol head(Symbol features, const ZooOptions& options, const Initializers& initializers) {
  if (!options.head) return features;
  return apply(Dense({.units = options.classes, .initializers = initializers}), features, "predictions");
}

Symbol kaiming_conv(Symbol x, std::int64_t filters, std::int64_t kernel, std::int64_t stride,
                    std::string name) {
  return apply(Conv2d({.filters = filters,
                       .kernel = kernel,
                       .stride = stride,
                       .padding = Padding::by((kernel - 1) / 2),
                       .bias = false,
                       .initializers = {.weight = "kaiming_normal"}}),
               x, std::move(name));
}

Symbol pooled_to(Symbol x, std::int64_t size) {
  const bool fits = shape_of(x)[1] == size && shape_of(x)[2] == size;
  return fits ? x : adaptive_average_pool(x, size);
}

std::int64_t multiple_of_8(double channels) {
  const std::int64_t rounded = std::max<std::int64_t>(8, static_cast<std::int64_t>(channels + 4) / 8 * 8);
  return static_cast<double>(rounded) < 0.9 * channels ? rounded + 8 : rounded;
}

Initializers kaiming_fan_out() {
  return {.weight = Initializer(Settings{{"name", "kaiming_normal"}, {"mode", "fan_out"}})};
}

Symbol conv_norm(Symbol x, const ConvNorm& unit, const std::string& conv, const std::string& norm) {
  x = apply(Conv2d({.filters = unit.filters,
                    .kernel = unit.kernel,
                    .stride = unit.stride,
                    .padding = unit.same ? Padding::same() : Padding::by((unit.kernel - 1) / 2),
                    .groups = unit.depthwise ? unit.filters : 1,
                    .bias = false,
                    .initializers = kaiming_fan_out()}),
            x, conv);
  x = apply(BatchNorm(unit.norm), x, norm);
  return unit.activation == nullptr ? x : unit.activation(x);
}

Symbol conv_norm(Symbol x, const ConvNorm& unit, const std::string& name) {
  return conv_norm(x, unit, name + ".0", name + ".1");
}

PartNames torch_names(const std::string& name, bool flat) {
  return [=, number = 0](ResidualPart part) mutable -> std::array<std::string, 2> {
    const std::string own = fmt::format("{}.{}", name, number++);
    if (part == ResidualPart::kExcite) return {own + ".fc1", own + ".fc2"};
    if (part == ResidualPart::kProject && flat) return {own, fmt::format("{}.{}", name, number)};
    return {own + ".0", own + ".1"};
  };
}

Symbol inverted_residual(Symbol x, const InvertedResidual& block, const PartNames& names) {
  const std::int64_t channels = shape_of(x)[0];
  const auto add_unit = [&](Symbol y, ResidualPart part, ConvNorm unit) {
    unit.same = block.same;
    unit.norm = block.norm;
    const auto [conv, norm] = names(part);
    return conv_norm(y, unit, conv, norm);
  };
  Symbol y = x;
  if (block.expanded != channels) {
    y = add_unit(y, ResidualPart::kExpand, {.filters = block.expanded, .activation = block.activation});
  }
  y = add_unit(y, ResidualPart::kDepthwise,
               {.filters = block.expanded,
                .kernel = block.kernel,
                .stride = block.stride,
                .depthwise = true,
                .activation = block.activation});
  if (block.excite.squeezed > 0) {
    const auto [reduce, expand] = names(ResidualPart::kExcite);
    const auto dense = [](Symbol s, std::int64_t units, const std::string& node) {
      return apply(Dense({.units = units, .initializers = kaiming_fan_out()}), s, node);
    };
    const Symbol scale =
        block.excite.activation(dense(global_average_pool(y), block.excite.squeezed, reduce));
    y = multiply({y, block.excite.gate(dense(scale, shape_of(y)[0], expand))});
  }
  y = add_unit(y, ResidualPart::kProject, {.filters = block.filters});
  if (block.stride != 1 || channels != block.filters) return y;
  return add(block.drop > 0 ? stochastic_depth(y, block.drop) : y, x);
}

}  // namespace convoke::nn
