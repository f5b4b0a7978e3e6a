#pragma once
#include <cstdint>
#include <string>

#include "convoke/nn/zoo.hpp"

// Functions that all families of the zoo use. A family names the nodes with parameters as its reference
// implementation does, so that weights can be copied by name.
namespace convoke::nn {

/// Adds the end of a network, the node "predictions": a dense layer of `options.classes` units on `features`
/// (F). Returns `features` if options.head is false.
Symbol head(Symbol features, const ZooOptions& options, const Initializers& initializers = {});

/// Adds a convolution of kernel x kernel without bias, padded by (kernel - 1) / 2, with Kaiming's weights.
Symbol kaiming_conv(Symbol x, std::int64_t filters, std::int64_t kernel, std::int64_t stride,
                    std::string name);

/// Averages over windows, so that the image has `size` x `size` pixels, as PyTorch's AdaptiveAvgPool2d.
/// Returns `x` itself if it has that size.
Symbol pooled_to(Symbol x, std::int64_t size);

/// Returns the shape of `x` for one sample.
inline const Shape& shape_of(Symbol x) { return x.graph->node(x.node).shape; }

}  // namespace convoke::nn
