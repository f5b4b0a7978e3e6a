#include "nn/kernels/batch_norm_moments.hpp"

#include "nn/kernels/batch_norm_passes.hpp"
#include "nn/kernels/instruction_sets.hpp"

namespace convoke::nn {
namespace {

using namespace batch_norm_passes;

//   E x = mean,  E x^2 = var + mean^2
template <class T>
void moments(const BatchNormShape& s, const T* x, double* mean, double* mean_square) {
  for_each_piece(
      s.in, [&](auto width, std::int64_t channel) __attribute__((always_inline)) {
        constexpr int kWidth = decltype(width)::value;
        double means[kWidth], variances[kWidth];
        statistics<kWidth>(s, planes_of(s, 0, channel), x, means, variances);
        for (int c = 0; c < kWidth && channel + c < s.in.channels; ++c) {
          mean[channel + c] = means[c];
          mean_square[channel + c] = variances[c] + means[c] * means[c];
        }
      });
}

template <Form kForm, class T>
[[gnu::always_inline]] inline void reduce_channels(const BatchNormShape& s, const T* x, const T* dy,
                                                   const float* gamma, const float* beta,
                                                   const BatchNormMemory& memory, T* gated, double* dgamma,
                                                   double* dbeta) {
  for_each_piece(
      s.in, [&](auto width, std::int64_t channel) __attribute__((always_inline)) {
        constexpr int kWidth = decltype(width)::value;
        const Channels<kWidth> k(gamma + channel, beta + channel, memory.mean + channel,
                                 memory.scale + channel);
        BatchNormSums<kWidth> sums;
        reduce<kWidth, kForm>(s, planes_of(s, 0, channel), x, dy, k, memory, gated, sums);
        for (int c = 0; c < kWidth && channel + c < s.in.channels; ++c) {
          dbeta[channel + c] = sums.first[c];
          dgamma[channel + c] = sums.second[c];
        }
      });
}

template <Form kForm, class T>
[[gnu::always_inline]] inline void spread_channels(const BatchNormShape& s, const T* x, const T* dy,
                                                   const float* gamma, const float* beta,
                                                   const BatchNormMemory& memory, const double* mean_dgamma,
                                                   const double* mean_dbeta, T* dx) {
  for_each_piece(
      s.in, [&](auto width, std::int64_t channel) __attribute__((always_inline)) {
        constexpr int kWidth = decltype(width)::value;
        const Channels<kWidth> k(gamma + channel, beta + channel, memory.mean + channel,
                                 memory.scale + channel);
        float k1[kWidth] = {}, k2[kWidth] = {};
        for (int c = 0; c < kWidth && channel + c < s.in.channels; ++c) {
          k2[c] = k.a[c] * k.scale[c] * static_cast<float>(mean_dgamma[channel + c]);
          k1[c] = k.a[c] * static_cast<float>(mean_dbeta[channel + c]) - k.center[c] * k2[c];
        }
        spread_back<kWidth, kForm>(s, planes_of(s, 0, channel), x, dy, k, k1, k2, memory, dx);
      });
}

template <class T>
void reduce_gradients(const BatchNormShape& shape, const T* x, const T* dy, const float* gamma,
                      const float* beta, const BatchNormMemory& memory, T* gated, double* dgamma,
                      double* dbeta) {
  with_form(
      shape, [&](auto form) __attribute__((always_inline)) {
        reduce_channels<form()>(shape, x, dy, gamma, beta, memory, gated, dgamma, dbeta);
      });
}

template <class T>
void spread_gradients(const BatchNormShape& shape, const T* x, const T* dy, const float* gamma,
                      const float* beta, const BatchNormMemory& memory, const double* mean_dgamma,
                      const double* mean_dbeta, T* dx) {
  with_form(
      shape, [&](auto form) __attribute__((always_inline)) {
        spread_channels<form()>(shape, x, dy, gamma, beta, memory, mean_dgamma, mean_dbeta, dx);
      });
}

}  // namespace

template <>
BatchNormMomentsKernels<float> kernels_for<kThisSet>() {
  return {moments, reduce_gradients, spread_gradients};
}
template <>
BatchNormMomentsKernels<Bf16> kernels_for<kThisSet>() {
  return {moments, reduce_gradients, spread_gradients};
}

}  // namespace convoke::nn
