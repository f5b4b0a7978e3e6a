#pragma once
#include <span>

namespace convoke::optim {

/// One step of an exponential moving average (Polyak and Juditsky, 1992): average <- decay average +
/// (1 - decay) weights, both of one size, decay in [0, 1). Keras' use_ema, PyTorch's get_ema_avg_fn.
void update_average(std::span<const float> weights, double decay, std::span<float> average);

}  // namespace convoke::optim
