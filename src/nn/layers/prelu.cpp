#include "convoke/nn/layers/prelu.hpp"

#include "convoke/nn/layer_reader.hpp"
#include "nn/kernels/per_channel.hpp"
#include "nn/layers/per_channel.hpp"

namespace convoke::nn {

std::vector<ParameterSpec> PRelu::parameters(std::span<const ValueSpec> inputs) const {
  return {{.name = "alpha", .shape = {channels_of(inputs[0])}, .initializer = options_.initializer}};
}

Settings PRelu::settings() const {
  return {{"layer", "prelu"}, {"initializer", options_.initializer.write()}};
}

LayerPtr PRelu::make(LayerReader& read) {
  PReluOptions o;
  o.initializer =
      read.initializer("initializer", o.initializer, "initial slopes; PyTorch's are constant 0.25");
  return std::make_shared<PRelu>(o);
}

void PRelu::compile(PlanBuilder& plan, const Node& node) const {
  compile_per_channel(
      plan, node, "alpha", [](auto&&... given) { prelu(given...); },
      [](auto&&... given) { prelu_backward(given...); });
}

Symbol prelu(Symbol x, PReluOptions options) {
  return {x.graph, x.graph->add(std::make_shared<PRelu>(std::move(options)), {x.node})};
}

}  // namespace convoke::nn
