#include "convoke/nn/layers/channel_scale.hpp"

#include "convoke/nn/layer_reader.hpp"
#include "nn/kernels/per_channel.hpp"
#include "nn/kernels/scale_shift.hpp"
#include "nn/layers/per_channel.hpp"

namespace convoke::nn {

std::vector<ParameterSpec> ChannelScale::parameters(std::span<const ValueSpec> inputs) const {
  const Initializer initial(Settings{{"name", "constant"}, {"value", options_.initial}});
  return {{.name = "gamma", .shape = {channels_of(inputs[0])}, .initializer = initial}};
}

LayerPtr ChannelScale::make(LayerReader& read) {
  ChannelScaleOptions o;
  o.initial = read.get("initial", o.initial, "initial value of each factor");
  return std::make_shared<ChannelScale>(o);
}

void ChannelScale::compile(PlanBuilder& plan, const Node& node) const {
  compile_per_channel(
      plan, node, "gamma",
      [](const ChannelBlocks& blocks, const float* gamma, auto* x, auto* y) {
        scale_shift(blocks, {.scale = gamma}, x, y);
      },
      [](auto&&... given) { channel_scale_backward(given...); });
}

Symbol channel_scale(Symbol x, ChannelScaleOptions options) {
  return {x.graph, x.graph->add(std::make_shared<ChannelScale>(options), {x.node})};
}

}  // namespace convoke::nn
