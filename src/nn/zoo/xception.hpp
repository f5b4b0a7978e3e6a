#pragma once
#include "convoke/nn/zoo.hpp"

namespace convoke::nn {

/// F. Chollet, "Xception: Deep learning with depthwise separable convolutions", CVPR 2017, figure 5. As Keras
/// Applications, nodes named alike; at least 71 x 71.
Graph xception(const ZooOptions& options);

}  // namespace convoke::nn
