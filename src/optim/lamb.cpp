#include "convoke/optim/lamb.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "convoke/core/keys.hpp"
#include "convoke/core/multiversion.hpp"
#include "convoke/optim/passes.hpp"

namespace convoke::optim {
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
