#include "convoke/optim/large_batch.hpp"

#include <algorithm>
#include <array>
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

namespace {

constexpr std::size_t kPiece = 1024;  // floats that stay in the first-level cache between two passes

//   m <- m + (1 - b1) (g - m)
//   v <- v + (1 - b2) (g^2 - v)                 every array has shape (n)
CONVOKE_MULTIVERSION
void moments(const float* gradient, float* mean, float* mean_square, std::size_t n, float one_minus_beta_1,
             float one_minus_beta_2) {
  for (std::size_t i = 0; i < n; ++i) {
    const float g = gradient[i];
    mean[i] += one_minus_beta_1 * (g - mean[i]);
    mean_square[i] += one_minus_beta_2 * (g * g - mean_square[i]);
  }
}

//   u = m / (1 - b1^t) / (sqrt(v / (1 - b2^t)) + eps) + lambda w
CONVOKE_MULTIVERSION
void direction(const float* weight, const float* mean, const float* mean_square, float* u, std::size_t n,
               float correct_mean, float correct_square, float epsilon, float weight_decay) {
  for (std::size_t i = 0; i < n; ++i) {
    u[i] = correct_mean * mean[i] / (std::sqrt(correct_square * mean_square[i]) + epsilon) +
           weight_decay * weight[i];
  }
}

//   w <- w - rate u
CONVOKE_MULTIVERSION
void descend(float* weight, const float* u, std::size_t n, float rate) {
  for (std::size_t i = 0; i < n; ++i) weight[i] -= rate * u[i];
}

template <class Action>
void for_each_piece(std::size_t size, Action action) {
  for (std::size_t begin = 0; begin < size; begin += kPiece) action(begin, std::min(kPiece, size - begin));
}

constexpr std::array kLambKeys = with_adam_keys<&LambOptions::adam>(
    key<&LambOptions::weight_decay>({.name = "weight_decay",
                                     .range = {.least = 0},
                                     .help = "part of the direction, whose length is scaled"}),
    key<&LambOptions::exclude_vectors>(
        {.name = "exclude_vectors",
         .help = "no decay of biases, gamma and beta, which use the plain step of Adam"}));

}  // namespace

Lamb::Keys Lamb::keys() { return kLambKeys; }

void Lamb::step(const Slice& slice, double learning_rate) const {
  const bool plain = options_.exclude_vectors && slice.is_vector();
  const auto t = static_cast<double>(slice.step());
  const auto correct_mean = static_cast<float>(1 / (1 - std::pow(options_.adam.beta_1, t)));
  const auto correct_square = static_cast<float>(1 / (1 - std::pow(options_.adam.beta_2, t)));
  const auto one_minus_beta_1 = static_cast<float>(1 - options_.adam.beta_1);
  const auto one_minus_beta_2 = static_cast<float>(1 - options_.adam.beta_2);
  const auto epsilon = static_cast<float>(options_.adam.epsilon);
  const float weight_decay = plain ? 0.0F : static_cast<float>(options_.weight_decay);
  std::array<float, kPiece> u;
  const auto direction_of = [&](std::size_t begin, std::size_t n) {
    direction(slice.parameters() + begin, slice.state(0) + begin, slice.state(1) + begin, u.data(), n,
              correct_mean, correct_square, epsilon, weight_decay);
  };

  // 1. The moments, and the norm of the direction, which is computed again below instead of stored.
  double squares = 0;
  for_each_piece(slice.size(), [&](std::size_t begin, std::size_t n) {
    moments(slice.gradients() + begin, slice.state(0) + begin, slice.state(1) + begin, n, one_minus_beta_1,
            one_minus_beta_2);
    if (plain) return;
    direction_of(begin, n);
    squares += sum_of_squares({u.data(), n});
  });

  // 2. The trust ratio ||w|| / ||u||; 1 where a norm is 0.
  double ratio = 1;
  if (!plain) {
    const double weight = sum_of_squares({slice.parameters(), slice.size()});
    if (weight > 0 && squares > 0) ratio = std::sqrt(weight) / std::sqrt(squares);
  }

  // 3. The step.
  const auto rate = static_cast<float>(learning_rate * ratio);
  for_each_piece(slice.size(), [&](std::size_t begin, std::size_t n) {
    direction_of(begin, n);
    descend(slice.parameters() + begin, u.data(), n, rate);
  });
}

}  // namespace convoke::optim
