#pragma once
#include "convoke/nn/zoo.hpp"

namespace convoke::nn {

/// A. Howard et al., "MobileNets: Efficient convolutional neural networks for mobile vision applications",
/// 2017, table 1. As Keras Applications, nodes named alike; its last 1 x 1 convolution is our dense layer.
Graph mobilenet_v1(const ZooOptions& options);

}  // namespace convoke::nn
