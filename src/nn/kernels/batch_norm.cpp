#include "nn/kernels/batch_norm.hpp"

#include <algorithm>
#include <cmath>

#include "nn/kernels/batch_norm_passes.hpp"
#include "nn/kernels/instruction_sets.hpp"

namespace convoke::nn {
namespace {

using namespace batch_norm_passes;

/// Visits the channels that a call computes.
template <class F>
[[gnu::always_inline]] inline void for_each_piece(const BatchNormShape& s, const F& f) {
  nn::for_each_piece(s.in, s.first_block, s.end_block, f);
}

template <Form kForm, class T>
[[gnu::always_inline]] inline void forward_micro_batches(const BatchNormShape& s, const T* x,
                                                         const float* gamma, const float* beta, float epsilon,
                                                         const BatchNormMemory& memory, T* y) {
  for (std::int64_t micro_batch = 0; micro_batch < s.micro_batches(); ++micro_batch) {
    for_each_piece(
        s, [&](auto width, std::int64_t channel) __attribute__((always_inline)) {
          constexpr int kWidth = decltype(width)::value;
          const Planes at = planes_of(s, micro_batch, channel);
          const std::int64_t c0 = micro_batch * s.in.padded_channels() + channel;
          if (!s.frozen) statistics<kWidth>(s, at, x, memory.mean + c0, memory.variance + c0);
          for (int c = 0; c < kWidth; ++c)
            memory.scale[c0 + c] = 1.0F / std::sqrt(memory.variance[c0 + c] + epsilon);
          const Channels<kWidth> k(gamma + channel, beta + channel, memory.mean + c0, memory.scale + c0);
          normalize<kWidth, kForm>(s, at, x, k, memory.winners, memory.x_hat, y);
        });
  }
}

template <Form kForm, class T>
[[gnu::always_inline]] inline void inference_micro_batches(const BatchNormShape& s, const T* x,
                                                           const float* gamma, const float* beta,
                                                           const float* mean, const float* variance,
                                                           float epsilon, T* y) {
  for (std::int64_t micro_batch = 0; micro_batch < s.micro_batches(); ++micro_batch) {
    for_each_piece(
        s, [&](auto width, std::int64_t channel) __attribute__((always_inline)) {
          constexpr int kWidth = decltype(width)::value;
          float scale[kWidth];
          for (int c = 0; c < kWidth; ++c) scale[c] = 1.0F / std::sqrt(variance[channel + c] + epsilon);
          const Channels<kWidth> k(gamma + channel, beta + channel, mean + channel, scale);
          normalize<kWidth, kForm>(s, planes_of(s, micro_batch, channel), x, k, nullptr, nullptr, y);
        });
  }
}

template <Form kForm, class T>
[[gnu::always_inline]] inline void backward_micro_batches(const BatchNormShape& s, const T* x, const T* dy,
                                                          const float* gamma, const float* beta,
                                                          const BatchNormMemory& memory, T* gated, T* dx,
                                                          float* dgamma, float* dbeta) {
  for (float* sum : {dgamma, dbeta})
    std::fill(sum + s.first_block * s.in.block, sum + s.end_block * s.in.block, 0.0F);
  const auto count = static_cast<double>(s.micro_batch * s.in.pixels());
  for (std::int64_t micro_batch = 0; micro_batch < s.micro_batches(); ++micro_batch) {
    for_each_piece(
        s, [&](auto width, std::int64_t channel) __attribute__((always_inline)) {
          constexpr int kWidth = decltype(width)::value;
          const Planes at = planes_of(s, micro_batch, channel);
          const std::int64_t c0 = micro_batch * s.in.padded_channels() + channel;
          const Channels<kWidth> k(gamma + channel, beta + channel, memory.mean + c0, memory.scale + c0);
          BatchNormSums<kWidth> sums;
          reduce<kWidth, kForm>(s, at, x, dy, k, memory, gated, sums);
          Line<kWidth> line;
          for (int c = 0; c < kWidth; ++c) {
            dbeta[channel + c] += static_cast<float>(sums.first[c]);
            dgamma[channel + c] += static_cast<float>(sums.second[c]);
            // Given statistics do not depend on x.
            line.k2[c] = s.frozen ? 0 : k.a[c] * k.scale[c] * static_cast<float>(sums.second[c] / count);
            line.k1[c] =
                s.frozen ? 0 : k.a[c] * static_cast<float>(sums.first[c] / count) - k.center[c] * line.k2[c];
          }
          spread_back<kWidth, kForm>(s, at, x, kGates<kForm> ? gated : dy, k, line, memory, dx);
        });
  }
}

template <class T>
void forward(const BatchNormShape& shape, const T* x, const float* gamma, const float* beta, float epsilon,
             const BatchNormMemory& memory, T* y) {
  with_form(
      shape, [&](auto form) __attribute__((always_inline)) {
        forward_micro_batches<form()>(shape, x, gamma, beta, epsilon, memory, y);
      });
}

template <class T>
void inference(const BatchNormShape& shape, const T* x, const float* gamma, const float* beta,
               const float* mean, const float* variance, float epsilon, T* y) {
  with_form(
      shape, [&](auto form) __attribute__((always_inline)) {
        inference_micro_batches<form()>(shape, x, gamma, beta, mean, variance, epsilon, y);
      });
}

template <class T>
void backward(const BatchNormShape& shape, const T* x, const T* dy, const float* gamma, const float* beta,
              const BatchNormMemory& memory, T* gated, T* dx, float* dgamma, float* dbeta) {
  with_form(
      shape, [&](auto form) __attribute__((always_inline)) {
        backward_micro_batches<form()>(shape, x, dy, gamma, beta, memory, gated, dx, dgamma, dbeta);
      });
}

//   E x = mean,  E x^2 = var + mean^2
template <class T>
void moments(const BatchNormShape& s, const T* x, double* mean, double* mean_square) {
  for_each_piece(
      s, [&](auto width, std::int64_t channel) __attribute__((always_inline)) {
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
      s, [&](auto width, std::int64_t channel) __attribute__((always_inline)) {
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
      s, [&](auto width, std::int64_t channel) __attribute__((always_inline)) {
        constexpr int kWidth = decltype(width)::value;
        const Channels<kWidth> k(gamma + channel, beta + channel, memory.mean + channel,
                                 memory.scale + channel);
        Line<kWidth> line;
        for (int c = 0; c < kWidth && channel + c < s.in.channels; ++c) {
          line.k2[c] = k.a[c] * k.scale[c] * static_cast<float>(mean_dgamma[channel + c]);
          line.k1[c] = k.a[c] * static_cast<float>(mean_dbeta[channel + c]) - k.center[c] * line.k2[c];
        }
        spread_back<kWidth, kForm>(s, planes_of(s, 0, channel), x, dy, k, line, memory, dx);
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

CONVOKE_KERNELS(BatchNormKernels, forward, inference, backward, moments, reduce_gradients, spread_gradients)

}  // namespace convoke::nn
