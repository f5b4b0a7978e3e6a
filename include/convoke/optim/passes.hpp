#pragma once
#include <span>

// Passes over weights and gradients in addition to the optimizer's.

namespace convoke::optim {

/// Return the sum of squares and the sum of magnitudes, in double. The order depends on the size alone, so
/// the bits are the same on every instruction set.
double sum_of_squares(std::span<const float> values);
double sum_of_magnitudes(std::span<const float> values);

/// Adds the gradient of the penalty l1 sum |w| + l2 sum w^2 to `gradients`, which has the size of `weights`,
/// and returns the penalty. At 0 the gradient of |w| is 0. Equal to Keras' L1L2.
double add_penalty(std::span<const float> weights, double l1, double l2, std::span<float> gradients);

/// Limits every element to [-limit, limit], limit > 0; NaN stays NaN. Equal to Keras' clipvalue.
void clip_by_value(std::span<float> gradients, float limit);

/// Returns the factor that limits a gradient of norm `norm` to `limit` (Pascanu, Mikolov and Bengio, ICML
/// 2013): min(1, limit / norm). Equal to Keras' global_clipnorm.
double clip_factor(double norm, double limit);

/// Multiplies every element by `factor`.
void scale(std::span<float> gradients, float factor);

/// Makes one step of an exponential moving average (Polyak and Juditsky, 1992): average <- decay average + (1
/// - decay) weights, both of one size, decay in [0, 1). Equal to Keras' use_ema and PyTorch's get_ema_avg_fn.
void update_average(std::span<const float> weights, double decay, std::span<float> average);

}  // namespace convoke::optim
