#pragma once
#include <span>

namespace convoke::optim {

/// Adds the gradient of the penalty l1 sum |w| + l2 sum w^2 to `gradients`, whose size is that of `weights`,
/// and returns the penalty. At 0 the gradient of |w| is 0. Keras' L1L2.
double add_penalty(std::span<const float> weights, double l1, double l2, std::span<float> gradients);

}  // namespace convoke::optim
