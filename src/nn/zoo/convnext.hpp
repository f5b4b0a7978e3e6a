#pragma once
#include "convoke/nn/zoo.hpp"

namespace convoke::nn {

/// Z. Liu et al., "A ConvNet for the 2020s", CVPR 2022, table 9, ConvNeXt-T. As torchvision, nodes named
/// alike; its linear layers over channels are our 1 x 1 convolutions.
Graph convnext_tiny(const ZooOptions& options);

}  // namespace convoke::nn
