#include "convoke/optim/adam.hpp"

#include <algorithm>
#include <cmath>

#include "convoke/core/keys.hpp"
#include "convoke/core/multiversion.hpp"

namespace convoke::optim {
namespace {

//   m <- m + (1 - b1) (g - m)
//   v <- v + (1 - b2) (g^2 - v)
//   w <- w - alpha m / (sqrt(v) + eps)          every array has shape (n)
CONVOKE_MULTIVERSION
void adam(float* weight, const float* gradient, float* mean, float* mean_square, std::size_t n, float alpha,
          float one_minus_beta_1, float one_minus_beta_2, float epsilon) {
  for (std::size_t i = 0; i < n; ++i) {
    const float g = gradient[i];
    mean[i] += one_minus_beta_1 * (g - mean[i]);
    mean_square[i] += one_minus_beta_2 * (g * g - mean_square[i]);
    weight[i] -= alpha * mean[i] / (std::sqrt(mean_square[i]) + epsilon);
  }
}

constexpr std::array kAdamKeys = with_adam_keys();

}  // namespace

Adam::Keys Adam::keys() { return kAdamKeys; }

void Adam::step(const Slice& slice, double learning_rate) const {
  // alpha = lr sqrt(1 - b2^t) / (1 - b1^t) corrects the bias of both means, which start at 0.
  const auto t = static_cast<double>(slice.step());
  const double alpha =
      learning_rate * std::sqrt(1 - std::pow(options_.beta_2, t)) / (1 - std::pow(options_.beta_1, t));
  adam(slice.parameters(), slice.gradients(), slice.state(0), slice.state(1), slice.size(),
       static_cast<float>(alpha), static_cast<float>(1 - options_.beta_1),
       static_cast<float>(1 - options_.beta_2), static_cast<float>(options_.epsilon));
}

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

namespace {

//   m <- m + (1 - b1) (g - m)
//   v <- v + (1 - b2) (g^2 - v)
//   w <- w - (a m + b g) / (sqrt(c v) + eps)    every array has shape (n)
CONVOKE_MULTIVERSION
void nadam(float* weight, const float* gradient, float* mean, float* mean_square, std::size_t n, float a,
           float b, float c, float one_minus_beta_1, float one_minus_beta_2, float epsilon) {
  for (std::size_t i = 0; i < n; ++i) {
    const float g = gradient[i];
    mean[i] += one_minus_beta_1 * (g - mean[i]);
    mean_square[i] += one_minus_beta_2 * (g * g - mean_square[i]);
    weight[i] -= (a * mean[i] + b * g) / (std::sqrt(c * mean_square[i]) + epsilon);
  }
}

double momentum(double beta_1, double t) { return beta_1 * (1 - 0.5 * std::pow(0.96, t)); }

// mu_1 mu_2 ... mu_t, a pure function of t, so that a restart needs no state. After 900 steps the factors 1 -
// 0.96^t / 2 are 1.
double momentum_product(double beta_1, std::int64_t t) {
  double product = std::pow(beta_1, static_cast<double>(t));
  double power = 1;
  for (std::int64_t i = 1; i <= std::min<std::int64_t>(t, 900); ++i) {
    power *= 0.96;
    product *= 1 - 0.5 * power;
  }
  return product;
}

}  // namespace

//   a = lr mu_{t+1} / (1 - mu_1 ... mu_{t+1}),  b = lr (1 - mu_t) / (1 - mu_1 ... mu_t),  c = 1 / (1 - b2^t)
void Nadam::step(const Slice& slice, double learning_rate) const {
  const auto t = static_cast<double>(slice.step());
  const double now = momentum(options_.beta_1, t);
  const double next = momentum(options_.beta_1, t + 1);
  const double product = momentum_product(options_.beta_1, slice.step());
  const double a = learning_rate * next / (1 - product * next);
  const double b = learning_rate * (1 - now) / (1 - product);
  const double c = 1 / (1 - std::pow(options_.beta_2, t));
  nadam(slice.parameters(), slice.gradients(), slice.state(0), slice.state(1), slice.size(),
        static_cast<float>(a), static_cast<float>(b), static_cast<float>(c),
        static_cast<float>(1 - options_.beta_1), static_cast<float>(1 - options_.beta_2),
        static_cast<float>(options_.epsilon));
}

}  // namespace convoke::optim
