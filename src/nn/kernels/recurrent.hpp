#pragma once
#include <cstdint>

#include "nn/kernels/bfloat16.hpp"

namespace convoke::nn {

/// One time step of a recurrent layer for N rows, each of a sample: the memory of its kernels. T is the
/// stored type; U = units, G = gates. Rows are contiguous except for those of y and dy.
template <class T>
struct RecurrentStep {
  std::int64_t samples = 0, units = 0;
  std::int64_t outputs = 0;             ///< number of rows, the first ones, that have y and dy
  const std::int32_t* order = nullptr;  ///< (N): the sample of each row; null: sample n in row n
  const std::int32_t* tokens =
      nullptr;  ///< token of sample n at tokens[n * token_stride]; 0 masks; may be null
  std::int64_t token_stride = 0;
  bool zero_masked = false;            ///< y of a masked sample is 0, not its state
  const T* input = nullptr;            ///< (rows, G U), forward: W x + b; may be `gates`
  const std::int32_t* rows = nullptr;  ///< (N): the row of `input` of each row; null: the same
  T* gates = nullptr;                  ///< (N, G U): the gates, then d loss / d (W x + b)
  T* recurrent_gates = nullptr;        ///< (N, G U), GRU's backward: d loss / d (R h + b_R)
  T* candidate = nullptr;              ///< (N, U), GRU: the candidate's part of R h + b_R
  const float* product = nullptr;      ///< (N, G U), forward: R h + b_R
  const T* h_before = nullptr;         ///< (N, U)
  T* h = nullptr;                      ///< (N, U)
  const float* c_before = nullptr;     ///< (N, U), LSTM
  float* c = nullptr;                  ///< (N, U), LSTM
  const float* factors = nullptr;      ///< (N, U), factors of recurrent dropout; null without
  T* dropped = nullptr;                ///< (N, U), with factors: h times the factors
  T* y = nullptr;                      ///< that of sample n at y + n * y_stride; null if it is not read
  const T* dy = nullptr;               ///< the gradient of y, at the same places
  std::int64_t y_stride = 0;
  float* dh = nullptr;          ///< (N, U): gradient that reaches h_before without R; read and written
  float* dc = nullptr;          ///< (N, U), LSTM: the same for c; read and written
  const float* back = nullptr;  ///< (N, U): gradient of h (dropped) through R; null at the last time step
};

/// Which of L N rows of time-major memory (L, N, ...) are equal. Distinct row i stands at
/// positions[start[i]], ..., positions[start[i + 1] - 1], in rising order.
struct EqualRows {
  std::int64_t count = 0;  ///< number of distinct rows
  const std::int32_t* start = nullptr;
  const std::int32_t* positions = nullptr;
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

  /// y[i] = x[position] * factors[position % samples], at the first position of each distinct row i.
  /// `factors` (samples, width) may be null.
  void (*gather_rows)(const EqualRows& rows, const T* x, const float* factors, std::int64_t samples,
                      std::int64_t width, T* y);
  /// y[i] = the sum of x over all positions of i, in fp32. `sum`: scratch memory of `width`.
  void (*sum_rows)(const EqualRows& rows, const T* x, std::int64_t width, float* sum, T* y);
  /// y[position] = x[i] * factors[position % samples] at the first position of i, and 0 at the others.
  void (*scatter_rows)(const EqualRows& rows, const T* x, const float* factors, std::int64_t samples,
                       std::int64_t width, T* y);
};

}  // namespace convoke::nn
