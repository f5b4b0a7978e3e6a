#pragma once
#include "convoke/nn/zoo.hpp"

namespace convoke::nn {

/// M. Sandler et al., "MobileNetV2: Inverted residuals and linear bottlenecks", CVPR 2018, table 2. As
/// torchvision, nodes named alike.
Graph mobilenet_v2(const ZooOptions& options);

}  // namespace convoke::nn
