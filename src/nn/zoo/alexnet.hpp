#pragma once
#include "convoke/nn/zoo.hpp"

namespace convoke::nn {

/// A. Krizhevsky, "One weird trick for parallelizing convolutional neural networks", 2014: one tower, without
/// local response normalisation, as torchvision; nodes named alike. Without a head it ends in the mean of
/// the last feature maps: the hidden dense layers belong to the head.
Graph alexnet(const ZooOptions& options);

}  // namespace convoke::nn
