#include "convoke/optim/averaging.hpp"

#include <cstddef>

#include "convoke/core/multiversion.hpp"

namespace convoke::optim {
namespace {

//   a <- d a + (1 - d) w                        every array has shape (n)
CONVOKE_MULTIVERSION
void average_in(const float* weight, float* average, std::size_t n, float decay, float one_minus_decay) {
  for (std::size_t i = 0; i < n; ++i) average[i] = decay * average[i] + one_minus_decay * weight[i];
}

}  // namespace

void update_average(std::span<const float> weights, double decay, std::span<float> average) {
  average_in(weights.data(), average.data(), weights.size(), static_cast<float>(decay),
             static_cast<float>(1 - decay));
}

}  // namespace convoke::optim
