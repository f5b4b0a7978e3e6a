#pragma once
#include "convoke/nn/zoo.hpp"

// Residual networks for images of 32 x 32.
namespace convoke::nn {

/// K. He et al., "Deep residual learning for image recognition", CVPR 2016, section 4.2, 6 n + 2 layers.
/// Where the shape changes, the shortcut has no parameters: it takes every other pixel and adds channels of
/// zeroes (the paper's option A, in the form of its authors' fb.resnet.torch).
Graph resnet20(const ZooOptions& options);
Graph resnet56(const ZooOptions& options);

/// S. Zagoruyko, N. Komodakis, "Wide residual networks", BMVC 2016, table 1 with depth 28 and k = 10: batch
/// norm and ReLU before the convolutions; without dropout.
Graph wide_resnet_28_10(const ZooOptions& options);

}  // namespace convoke::nn
