#pragma once
#include "convoke/nn/zoo.hpp"

// K. He, X. Zhang, S. Ren, J. Sun, "Deep residual learning for image recognition", CVPR 2016, table 1.
namespace convoke::nn {

/// As torchvision, nodes named alike: "v1.5", whose bottlenecks stride in the 3 x 3 convolution.
Graph resnet18(const ZooOptions& options);
Graph resnet34(const ZooOptions& options);
Graph resnet50(const ZooOptions& options);
Graph resnet101(const ZooOptions& options);
Graph resnet152(const ZooOptions& options);

}  // namespace convoke::nn
