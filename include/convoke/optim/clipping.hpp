#pragma once
#include <span>

namespace convoke::optim {

/// Keeps every element within [-limit, limit], limit > 0; NaN stays NaN. Keras' clipvalue.
void clip_by_value(std::span<float> gradients, float limit);

/// The factor that takes a gradient of length `norm` to at most `limit` (Pascanu, Mikolov and Bengio, ICML
/// 2013): min(1, limit / norm). Keras' global_clipnorm.
double clip_factor(double norm, double limit);

/// Multiplies every element by `factor`.
void scale(std::span<float> gradients, float factor);

}  // namespace convoke::optim
