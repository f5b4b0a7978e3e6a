#include "convoke/nn/layers/dropout.hpp"

#include <fmt/format.h>

#include "convoke/core/error.hpp"
#include "convoke/nn/layer_reader.hpp"
#include "nn/kernels/dropout.hpp"
#include "nn/layers/drop_channels.hpp"
#include "nn/layers/in_place.hpp"

namespace convoke::nn {

Shape Dropout::output_shape(std::span<const ValueSpec> inputs) const {
  if (options_.spatial && inputs[0].rank() == 1) {
    throw Error(fmt::format("with spatial = true needs (N, C, H, W) or (N, L, F), but its input is {}",
                            inputs[0].with_batch()),
                "leave spatial out, or put it before the flatten layer");
  }
  return inputs[0];
}

Settings Dropout::settings() const {
  Settings settings{{"layer", "dropout"}, {"rate", options_.rate}};
  if (options_.spatial) settings.set("spatial", true);
  return settings;
}

LayerPtr Dropout::make(LayerReader& read) {
  const double rate = read.require_number("rate", "probability that an element is zeroed, below 1");
  read.check("rate", rate >= 0 && rate < 1, "in [0, 1)");
  const bool spatial = read.get("spatial", false, "drop whole channels, or features of a sequence");
  return std::make_shared<Dropout>(DropoutOptions{rate, spatial});
}

void Dropout::compile(PlanBuilder& plan, const Node& node) const {
  if (options_.spatial) return compile_drop_channels(plan, node, options_.rate, Drop::kChannels);
  const std::size_t from = node.inputs[0];
  if (!plan.training(node) || options_.rate == 0) return plan.set_alias(node.index, from);
  ChannelBlocks blocks;
  const Tensor x = plan.blocked(plan.value(from), node, blocks);
  const Tensor y = plan.allocate(x.desc);
  const std::size_t count = elements_of(x.desc);
  const Ref keep = plan.allocate_bytes(count);
  const auto stream = static_cast<std::uint32_t>(node.index);
  const double rate = options_.rate;
  with_stored_type(x.desc, [&](auto zero) {
    using T = decltype(zero);
    plan.add_kernel(
        node, "forward",
        [=](const Frame& frame) {
          dropout_forward(blocks, frame.at<T>(x), rate,
                          philox_key(frame.key.seed, Purpose::kDropout, frame.key.epoch), stream,
                          frame.key.samples.data(), frame.at<T>(y),
                          reinterpret_cast<std::uint8_t*>(frame.address(keep)));
        },
        {x.ref, y.ref, keep}, y);
  });
  plan.set_value(node.index, y);
  on_backward_in_place(plan, node, {keep}, [=](const Frame& frame, const auto* dy, auto* dx) {
    dropout_backward(dy, reinterpret_cast<const std::uint8_t*>(frame.address(keep)), rate, dx, count);
  });
}

Symbol dropout(Symbol x, double rate) { return dropout(x, DropoutOptions{rate}); }
Symbol dropout(Symbol x, DropoutOptions options) {
  return {x.graph, x.graph->add(std::make_shared<Dropout>(options), {x.node})};
}

}  // namespace convoke::nn
