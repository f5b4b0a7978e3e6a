#pragma once
#include "convoke/nn/zoo.hpp"

namespace convoke::nn {

/// A. Howard et al., "Searching for MobileNetV3", ICCV 2019, tables 1 and 2. As torchvision, nodes named
/// alike.
Graph mobilenet_v3_large(const ZooOptions& options);
Graph mobilenet_v3_small(const ZooOptions& options);

}  // namespace convoke::nn
