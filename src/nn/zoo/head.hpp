#pragma once
#include <memory>
#include <string>
#include <utility>

#include "convoke/nn/zoo.hpp"

// What every family of the zoo uses.
namespace convoke::nn {

/// The end of every network: the node "predictions", a dense layer of `options.classes` units, over
/// `features` (F); `features` itself without a head.
Symbol head(Symbol features, const ZooOptions& options, const Initializers& initializers = {});

/// `layer` applied to `x` as the node `name`: a family names the nodes that hold parameters as the
/// implementation does that it is compared with, such that weights find their place.
template <class Kind>
Symbol apply(Kind layer, Symbol x, std::string name) {
  return {x.graph, x.graph->add(std::make_shared<Kind>(std::move(layer)), {x.node}, std::move(name))};
}

/// Means over windows that make an image of `size` x `size`, as PyTorch's AdaptiveAvgPool2d; `x` itself if it
/// has that size.
Symbol pooled_to(Symbol x, std::int64_t size);

/// The shape of `x`, of one sample.
inline const Shape& shape_of(Symbol x) { return x.graph->node(x.node).shape; }

}  // namespace convoke::nn
