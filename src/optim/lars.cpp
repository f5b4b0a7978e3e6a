#include "convoke/optim/lars.hpp"

#include <cmath>

#include "convoke/core/keys.hpp"
#include "convoke/core/multiversion.hpp"
#include "convoke/optim/passes.hpp"

namespace convoke::optim {
namespace {

//   v <- mu v - lr (g + lambda w)
//   w <- w + v                                  every array has shape (n)
CONVOKE_MULTIVERSION
void lars(float* weight, const float* gradient, float* velocity, std::size_t n, float rate, float momentum,
          float weight_decay) {
  for (std::size_t i = 0; i < n; ++i) {
    velocity[i] = momentum * velocity[i] - rate * (gradient[i] + weight_decay * weight[i]);
    weight[i] += velocity[i];
  }
}

//   eta ||w|| / (||g|| + lambda ||w|| + eps); 1 where a norm is 0, as at the start of a bias
double trust_ratio(const Slice& slice, const LarsOptions& options) {
  const double weight = std::sqrt(sum_of_squares({slice.parameters(), slice.size()}));
  const double gradient = std::sqrt(sum_of_squares({slice.gradients(), slice.size()}));
  if (weight == 0 || gradient == 0) return 1;
  return options.trust_coefficient * weight / (gradient + options.weight_decay * weight + options.epsilon);
}

constexpr std::array kLarsKeys{
    key<&LarsOptions::momentum>(
        {.name = "momentum", .range = {.least = 0, .below = 1}, .help = "decay of the velocity"}),
    key<&LarsOptions::weight_decay>({.name = "weight_decay",
                                     .range = {.least = 0},
                                     .help = "part of the direction, whose length is scaled"}),
    key<&LarsOptions::trust_coefficient>(
        {.name = "trust_coefficient",
         .range = {.above = 0},
         .help = "the paper's eta: step norm / weight norm at a learning rate of 1"}),
    key<&LarsOptions::epsilon>(
        {.name = "epsilon", .range = {.least = 0}, .help = "added to the denominator of the trust ratio"}),
    key<&LarsOptions::exclude_vectors>(
        {.name = "exclude_vectors",
         .help = "no decay of biases, gamma and beta, which use the plain learning rate"}),
};

}  // namespace

Lars::Keys Lars::keys() { return kLarsKeys; }

void Lars::step(const Slice& slice, double learning_rate) const {
  const bool plain = options_.exclude_vectors && slice.is_vector();
  const double rate = plain ? learning_rate : learning_rate * trust_ratio(slice, options_);
  lars(slice.parameters(), slice.gradients(), slice.state(0), slice.size(), static_cast<float>(rate),
       static_cast<float>(options_.momentum), plain ? 0.0F : static_cast<float>(options_.weight_decay));
}

}  // namespace convoke::optim
