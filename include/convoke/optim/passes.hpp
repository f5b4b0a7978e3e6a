#pragma once
#include <span>

// Passes over weights and gradients besides the optimizer's.

namespace convoke::optim {

/// Sum of squares and sum of magnitudes, in double and in an order that depends on nothing but the size: the
/// same bits on every instruction set.
double sum_of_squares(std::span<const float> values);
double sum_of_magnitudes(std::span<const float> values);

/// Adds the gradient of the penalty l1 sum |w| + l2 sum w^2 to `gradients`, whose size is that of `weights`,
/// and returns the penalty. At 0 the gradient of |w| is 0. Keras' L1L2.
double add_penalty(std::span<const float> weights, double l1, double l2, std::span<float> gradients);

/// Keeps every element within [-limit, limit], limit > 0; NaN stays NaN. Keras' clipvalue.
void clip_by_value(std::span<float> gradients, float limit);

/// The factor that takes a gradient of length `norm` to at most `limit` (Pascanu, Mikolov and Bengio, ICML
/// 2013): min(1, limit / norm). Keras' global_clipnorm.
double clip_factor(double norm, double limit);

/// Multiplies every element by `factor`.
void scale(std::span<float> gradients, float factor);

/// One step of an exponential moving average (Polyak and Juditsky, 1992): average <- decay average +
/// (1 - decay) weights, both of one size, decay in [0, 1). Keras' use_ema, PyTorch's get_ema_avg_fn.
void update_average(std::span<const float> weights, double decay, std::span<float> average);

}  // namespace convoke::optim
