#pragma once
#include "convoke/nn/zoo.hpp"

namespace convoke::nn {

/// G. Huang, Z. Liu, L. van der Maaten, K. Weinberger, "Densely connected convolutional networks", CVPR 2017,
/// table 1. As torchvision, nodes named alike.
Graph densenet121(const ZooOptions& options);
Graph densenet169(const ZooOptions& options);
Graph densenet201(const ZooOptions& options);

}  // namespace convoke::nn
