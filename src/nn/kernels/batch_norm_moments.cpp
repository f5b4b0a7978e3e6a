#include "nn/kernels/batch_norm_moments.hpp"

#include "convoke/core/multiversion.hpp"
#include "nn/kernels/batch_norm_passes.hpp"

namespace convoke::nn {
namespace {

using namespace batch_norm_passes;

//   E x = mean,  E x^2 = var + mean^2
template <class T>
[[gnu::always_inline]] inline void moments_of(const BatchNormShape& s, const T* x, double* mean,
                                              double* mean_square) {
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

}  // namespace

CONVOKE_MULTIVERSION
void batch_norm_moments(const BatchNormShape& shape, const float* x, double* mean, double* mean_square) {
  moments_of(shape, x, mean, mean_square);
}
CONVOKE_MULTIVERSION_BF16
void batch_norm_moments(const BatchNormShape& shape, const Bf16* x, double* mean, double* mean_square) {
  moments_of(shape, x, mean, mean_square);
}

CONVOKE_MULTIVERSION
void batch_norm_reduce(const BatchNormShape& shape, const float* x, const float* dy, const float* gamma,
                       const float* beta, const BatchNormMemory& memory, float* gated, double* dgamma,
                       double* dbeta) {
  with_form(
      shape, [&](auto form) __attribute__((always_inline)) {
        reduce_channels<form()>(shape, x, dy, gamma, beta, memory, gated, dgamma, dbeta);
      });
}
CONVOKE_MULTIVERSION_BF16
void batch_norm_reduce(const BatchNormShape& shape, const Bf16* x, const Bf16* dy, const float* gamma,
                       const float* beta, const BatchNormMemory& memory, Bf16* gated, double* dgamma,
                       double* dbeta) {
  with_form(
      shape, [&](auto form) __attribute__((always_inline)) {
        reduce_channels<form()>(shape, x, dy, gamma, beta, memory, gated, dgamma, dbeta);
      });
}

CONVOKE_MULTIVERSION
void batch_norm_spread_back(const BatchNormShape& shape, const float* x, const float* dy, const float* gamma,
                            const float* beta, const BatchNormMemory& memory, const double* mean_dgamma,
                            const double* mean_dbeta, float* dx) {
  with_form(
      shape, [&](auto form) __attribute__((always_inline)) {
        spread_channels<form()>(shape, x, dy, gamma, beta, memory, mean_dgamma, mean_dbeta, dx);
      });
}
CONVOKE_MULTIVERSION_BF16
void batch_norm_spread_back(const BatchNormShape& shape, const Bf16* x, const Bf16* dy, const float* gamma,
                            const float* beta, const BatchNormMemory& memory, const double* mean_dgamma,
                            const double* mean_dbeta, Bf16* dx) {
  with_form(
      shape, [&](auto form) __attribute__((always_inline)) {
        spread_channels<form()>(shape, x, dy, gamma, beta, memory, mean_dgamma, mean_dbeta, dx);
      });
}

}  // namespace convoke::nn
