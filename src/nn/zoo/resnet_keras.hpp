#pragma once
#include "convoke/nn/zoo.hpp"

namespace convoke::nn {

/// ResNet-50 as Keras Applications, nodes named alike: "v1", whose bottlenecks stride in their first
/// convolution, with biases.
Graph resnet50_keras(const ZooOptions& options);

}  // namespace convoke::nn
