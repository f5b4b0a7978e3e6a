#pragma once
#include "convoke/nn/zoo.hpp"

namespace convoke::nn {

/// N. Ma et al., "ShuffleNet V2: Practical guidelines for efficient CNN architecture design", ECCV 2018,
/// table 5, width 1. As torchvision's x1_0, nodes named alike.
Graph shufflenet_v2(const ZooOptions& options);

}  // namespace convoke::nn
