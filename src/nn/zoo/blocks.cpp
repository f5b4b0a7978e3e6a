#include "nn/zoo/blocks.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "convoke/nn/layers/conv2d.hpp"
#include "convoke/nn/layers/dense.hpp"
#include "convoke/nn/layers/dropout.hpp"
#include "convoke/nn/layers/merge.hpp"
#include "convoke/nn/layers/pool.hpp"

namespace convoke::nn {

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
                    .padding = Padding::by((unit.kernel - 1) / 2),
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

Symbol squeeze_excite(Symbol x, const SqueezeExcite& options, const std::string& reduce,
                      const std::string& expand) {
  const auto dense = [](Symbol s, std::int64_t units, const std::string& node) {
    return apply(Dense({.units = units, .initializers = kaiming_fan_out()}), s, node);
  };
  const Symbol scale = options.activation(dense(global_average_pool(x), options.squeezed, reduce));
  return multiply({x, options.gate(dense(scale, shape_of(x)[0], expand))});
}

Symbol inverted_residual(Symbol x, const InvertedResidual& block, const std::string& name) {
  const std::int64_t channels = shape_of(x)[0];
  int part = 0;
  const auto next = [&] { return fmt::format("{}.{}", name, part++); };
  Symbol y = x;
  if (block.expanded != channels) {
    y = conv_norm(y, {.filters = block.expanded, .activation = block.activation, .norm = block.norm}, next());
  }
  y = conv_norm(y,
                {.filters = block.expanded,
                 .kernel = block.kernel,
                 .stride = block.stride,
                 .depthwise = true,
                 .activation = block.activation,
                 .norm = block.norm},
                next());
  if (block.excite.squeezed > 0) {
    const std::string excite = next();
    y = squeeze_excite(y, block.excite, excite + ".fc1", excite + ".fc2");
  }
  const std::string last = next();
  const ConvNorm project{.filters = block.filters, .norm = block.norm};
  y = block.flat ? conv_norm(y, project, last, next()) : conv_norm(y, project, last);
  if (block.stride != 1 || channels != block.filters) return y;
  return add(block.drop > 0 ? stochastic_depth(y, block.drop) : y, x);
}

}  // namespace convoke::nn
