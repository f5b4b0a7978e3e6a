#pragma once
#include "convoke/nn/zoo.hpp"

// F. Iandola et al., "SqueezeNet: AlexNet-level accuracy with 50x fewer parameters", 2016, table 1, as
// torchvision, nodes named alike. The head is a convolution ("predictions"), a ReLU and the mean of its maps.
namespace convoke::nn {

Graph squeezenet1_0(const ZooOptions& options);
/// The authors' later one: 2.4 times less computation.
Graph squeezenet1_1(const ZooOptions& options);

}  // namespace convoke::nn
