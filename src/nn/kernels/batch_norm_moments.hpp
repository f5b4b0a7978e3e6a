#pragma once
#include "nn/kernels/batch_norm.hpp"

namespace convoke::nn {

// batch_norm_forward and batch_norm_backward in two parts each, with all samples as one micro-batch
// (shape.micro_batch = in.samples), for statistics over more than these samples. Between the parts, the
// caller averages the results of the first part over the whole batch. The second part of forward is
// batch_norm_forward with `frozen`.

/// Computes E x and E x^2 over samples and pixels, (channels) each.
void batch_norm_moments(const BatchNormShape& shape, const float* x, double* mean, double* mean_square);
void batch_norm_moments(const BatchNormShape& shape, const Bf16* x, double* mean, double* mean_square);

/// Computes d gamma and d beta of these samples, (channels) each; if shape.gates() also `gated`, as above.
void batch_norm_reduce(const BatchNormShape& shape, const float* x, const float* dy, const float* gamma,
                       const float* beta, const BatchNormMemory& memory, float* gated, double* dgamma,
                       double* dbeta);
void batch_norm_reduce(const BatchNormShape& shape, const Bf16* x, const Bf16* dy, const float* gamma,
                       const float* beta, const BatchNormMemory& memory, Bf16* gated, double* dgamma,
                       double* dbeta);

/// Computes dx from dy (if shape.gates(): from `gated`) and from d gamma and d beta of the whole batch,
/// (channels) each, divided by its samples times pixels. dx may be that input if there is no pooling.
void batch_norm_spread_back(const BatchNormShape& shape, const float* x, const float* dy, const float* gamma,
                            const float* beta, const BatchNormMemory& memory, const double* mean_dgamma,
                            const double* mean_dbeta, float* dx);
void batch_norm_spread_back(const BatchNormShape& shape, const Bf16* x, const Bf16* dy, const float* gamma,
                            const float* beta, const BatchNormMemory& memory, const double* mean_dgamma,
                            const double* mean_dbeta, Bf16* dx);

}  // namespace convoke::nn
