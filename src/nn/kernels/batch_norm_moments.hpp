#pragma once
#include "nn/kernels/batch_norm.hpp"

namespace convoke::nn {

/// The two directions of BatchNormKernels in two parts each, with all samples as one micro-batch
/// (shape.micro_batch = in.samples), for statistics over more than these samples. Between the parts, the
/// caller averages the results of the first part over the whole batch. The second part of forward is
/// BatchNormKernels::forward with `frozen`.
template <class T>
struct BatchNormMomentsKernels {
  /// Computes E x and E x^2 over samples and pixels, (channels) each.
  void (*moments)(const BatchNormShape& shape, const T* x, double* mean, double* mean_square);

  /// Computes d gamma and d beta of these samples, (channels) each; if shape.gates() also `gated`, as above.
  void (*reduce)(const BatchNormShape& shape, const T* x, const T* dy, const float* gamma, const float* beta,
                 const BatchNormMemory& memory, T* gated, double* dgamma, double* dbeta);

  /// Computes dx from dy (if shape.gates(): from `gated`) and from d gamma and d beta of the whole batch,
  /// (channels) each, divided by its samples times pixels. dx may be that input if there is no pooling.
  void (*spread_back)(const BatchNormShape& shape, const T* x, const T* dy, const float* gamma,
                      const float* beta, const BatchNormMemory& memory, const double* mean_dgamma,
                      const double* mean_dbeta, T* dx);
};

}  // namespace convoke::nn
