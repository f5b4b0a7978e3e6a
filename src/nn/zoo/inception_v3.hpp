#pragma once
#include "convoke/nn/zoo.hpp"

namespace convoke::nn {

/// C. Szegedy et al., "Rethinking the Inception architecture for computer vision", CVPR 2016, as Keras
/// Applications: batch norms without scale, no auxiliary classifier, at least 75 x 75.
Graph inception_v3(const ZooOptions& options);

/// All of it before the pooling: (3, 299, 299) -> (2048, 8, 8).
Symbol inception_v3_features(Symbol x);

}  // namespace convoke::nn
