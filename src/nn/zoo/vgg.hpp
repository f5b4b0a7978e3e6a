#pragma once
#include "convoke/nn/zoo.hpp"

// K. Simonyan, A. Zisserman, "Very deep convolutional networks for large-scale image recognition", ICLR 2015,
// table 1, as torchvision, nodes named alike. Without a head they end in the mean of the last feature maps:
// the hidden dense layers belong to the head.
namespace convoke::nn {

Graph vgg11(const ZooOptions& options);  ///< configuration A
Graph vgg13(const ZooOptions& options);  ///< B
Graph vgg16(const ZooOptions& options);  ///< D
Graph vgg19(const ZooOptions& options);  ///< E

/// With batch norm after every convolution.
Graph vgg11_bn(const ZooOptions& options);
Graph vgg13_bn(const ZooOptions& options);
Graph vgg16_bn(const ZooOptions& options);
Graph vgg19_bn(const ZooOptions& options);

}  // namespace convoke::nn
