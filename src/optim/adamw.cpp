#include "convoke/optim/adamw.hpp"

#include <cmath>

#include "convoke/core/keys.hpp"
#include "convoke/core/multiversion.hpp"

namespace convoke::optim {
namespace {

//   w <- w - lr lambda w                        every array has shape (n)
CONVOKE_MULTIVERSION
void decay(float* weight, std::size_t n, float rate) {
  for (std::size_t i = 0; i < n; ++i) weight[i] -= rate * weight[i];
}

constexpr std::array kAdamWKeys = with_adam_keys<&AdamWOptions::adam>(
    key<&AdamWOptions::weight_decay>({.name = "weight_decay",
                                      .range = {.least = 0},
                                      .help = "a step subtracts learning rate x this of each weight"}),
    key<&AdamWOptions::exclude_vectors>(
        {.name = "exclude_vectors", .help = "no decay of biases, gamma and beta"}));

}  // namespace

AdamW::Keys AdamW::keys() { return kAdamWKeys; }

void AdamW::step(const Slice& slice, double learning_rate) const {
  if (!(options_.exclude_vectors && slice.is_vector())) {
    decay(slice.parameters(), slice.size(), static_cast<float>(learning_rate * options_.weight_decay));
  }
  Adam(options_.adam).step(slice, learning_rate);
}

}  // namespace convoke::optim
