#pragma once
#include <cstdint>

#include "nn/kernels/bfloat16.hpp"

namespace convoke::nn {

/// One time step of a recurrent layer for N samples: the memory of its kernels. T is the stored type; U =
/// units, G = gates. Rows are contiguous except for those of y and dy.
template <class T>
struct RecurrentStep {
  std::int64_t samples = 0, units = 0;
  const std::int32_t* tokens =
      nullptr;  ///< token of sample n at tokens[n * token_stride]; 0 masks; may be null
  std::int64_t token_stride = 0;
  bool zero_masked = false;         ///< y of a masked sample is 0, not its state
  T* gates = nullptr;               ///< (N, G U): W x + b, then the gates, then d loss / d (W x + b)
  T* recurrent_gates = nullptr;     ///< (N, G U), GRU's backward: d loss / d (R h + b_R)
  T* candidate = nullptr;           ///< (N, U), GRU: the candidate's part of R h + b_R
  const float* product = nullptr;   ///< (N, G U), forward: R h + b_R
  const T* h_before = nullptr;      ///< (N, U)
  T* h = nullptr;                   ///< (N, U)
  const float* c_before = nullptr;  ///< (N, U), LSTM
  float* c = nullptr;               ///< (N, U), LSTM
  const float* factors = nullptr;   ///< (N, U), factors of recurrent dropout; null without
  T* dropped = nullptr;             ///< (N, U), with factors: h times the factors
  T* y = nullptr;                   ///< row n at y + n * y_stride; null if it is not read
  const T* dy = nullptr;            ///< the gradient of y, with the same rows
  std::int64_t y_stride = 0;
  float* dh = nullptr;          ///< (N, U): gradient that reaches h_before without R; read and written
  float* dc = nullptr;          ///< (N, U), LSTM: the same for c; read and written
  const float* back = nullptr;  ///< (N, U): gradient of h (dropped) through R; null at the last time step
};

/// The time steps of recurrent layers.
template <class T>
struct RecurrentKernels {
  //   c = f c_before + i g,  h = o tanh(c)
  void (*lstm_forward)(const RecurrentStep<T>& step);
  void (*lstm_backward)(const RecurrentStep<T>& step);

  //   h = z h_before + (1 - z) tanh(a + r q), where q is the candidate's part of R h_before + b_R
  void (*gru_forward)(const RecurrentStep<T>& step);
  void (*gru_backward)(const RecurrentStep<T>& step);

  /// y[l, n, f] = x[l, n, f] * factors[n, f]; y may be x.
  void (*scale_time_steps)(const T* x, const float* factors, std::int64_t length, std::int64_t row, T* y);
};

}  // namespace convoke::nn
