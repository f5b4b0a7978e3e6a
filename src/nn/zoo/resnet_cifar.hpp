#pragma once
#include "convoke/nn/zoo.hpp"

// Residual networks for images of 32 x 32.
namespace convoke::nn {

/// K. He et al., "Deep residual learning for image recognition", CVPR 2016, section 4.2, 6 n + 2 layers.
/// Where the shape changes, the shortcut is a 1x1 convolution with batch norm (the paper's option B, as its
/// networks for ImageNet); its own for 32 x 32 have option A, zeroes for the new channels, and 2,752 fewer
/// parameters: 269,722 and 853,018 there (0.27 and 0.85 million), 272,474 and 855,770 here.
Graph resnet20(const ZooOptions& options);
Graph resnet56(const ZooOptions& options);

/// S. Zagoruyko, N. Komodakis, "Wide residual networks", BMVC 2016, table 1 with depth 28 and k = 10: batch
/// norm and ReLU before the convolutions; without dropout.
Graph wide_resnet_28_10(const ZooOptions& options);

}  // namespace convoke::nn
