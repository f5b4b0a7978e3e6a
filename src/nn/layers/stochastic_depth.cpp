#include "convoke/nn/layers/stochastic_depth.hpp"

#include "convoke/nn/layer_reader.hpp"
#include "nn/layers/drop_channels.hpp"

namespace convoke::nn {

LayerPtr StochasticDepth::make(LayerReader& read) {
  const double rate =
      read.require_number("rate", "probability that the branch is dropped for a sample, below 1");
  read.check("rate", rate >= 0 && rate < 1, "in [0, 1)");
  return std::make_shared<StochasticDepth>(rate);
}

void StochasticDepth::compile(PlanBuilder& plan, const Node& node) const {
  compile_drop_channels(plan, node, rate_, Drop::kSamples);
}

Symbol stochastic_depth(Symbol x, double rate) {
  return {x.graph, x.graph->add(std::make_shared<StochasticDepth>(rate), {x.node})};
}

}  // namespace convoke::nn
