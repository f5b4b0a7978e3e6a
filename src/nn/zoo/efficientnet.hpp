#pragma once
#include "convoke/nn/zoo.hpp"

namespace convoke::nn {

/// M. Tan, Q. Le, "EfficientNet: Rethinking model scaling for convolutional neural networks", ICML 2019,
/// table 1, and its scaling to B1 .. B7. As torchvision, nodes named alike; pixels are to be standardised
/// before.
Graph efficientnet_b0(const ZooOptions& options);
Graph efficientnet_b1(const ZooOptions& options);
Graph efficientnet_b2(const ZooOptions& options);
Graph efficientnet_b3(const ZooOptions& options);
Graph efficientnet_b4(const ZooOptions& options);
Graph efficientnet_b5(const ZooOptions& options);
Graph efficientnet_b6(const ZooOptions& options);
Graph efficientnet_b7(const ZooOptions& options);

/// All of B5 before the pooling: (3, 456, 456) -> (2048, 15, 15).
Symbol efficientnet_b5_features(Symbol x);

}  // namespace convoke::nn
