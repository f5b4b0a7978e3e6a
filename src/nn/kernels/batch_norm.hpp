#pragma once
#include <cstdint>
#include <limits>

#include "nn/channel_blocks.hpp"
#include "nn/kernels/bfloat16.hpp"

namespace convoke::nn {

/// Batch normalization of each micro-batch separately (S. Ioffe, C. Szegedy, "Batch Normalization",
/// ICML 2015), together with the layers that may follow: a ReLU (or relu6) and max pooling, or a silu or
/// hard-swish. Both directions read and write each element only once.
struct BatchNormShape {
  enum class Form { kPlain, kPooled, kSilu, kHardSwish };

  ChannelBlocks in;
  std::int64_t micro_batch = 0;  ///< samples per micro-batch; divides in.samples
  bool relu = false;
  std::int64_t pool_height = 1, pool_width = 1;  ///< windows that tile the image; 1 x 1: no pooling
  float ceiling =
      /// upper limit of that ReLU: 6 for relu6; only without pooling
      std::numeric_limits<float>::infinity();
  Form curve = Form::kPlain;  ///< kSilu or kHardSwish: then there is neither ReLU nor pooling
  bool frozen = false;        ///< mean and variance are given constants, the same for all micro-batches
  std::int64_t first_block = 0, end_block = in.outer;  ///< the blocks of channels that a call computes
  Form form() const { return pooled() ? Form::kPooled : curve; }
  bool pooled() const { return pool_height * pool_width > 1; }
  /// True if the gradient of the following curve is computed once and stored: `gated` below.
  bool gates() const { return curve != Form::kPlain; }
  std::int64_t micro_batches() const { return in.samples / micro_batch; }
  std::int64_t out_height() const { return in.height / pool_height; }
  std::int64_t out_width() const { return in.width / pool_width; }
};

/// Values that forward keeps for backward. mean, scale and variance are (micro-batches, padded channels).
/// scale is 1 / sqrt(var + eps). With pooling only: winners, and x_hat (the normalized winner), both with the
/// shape of y.
struct BatchNormMemory {
  float* mean = nullptr;
  float* scale = nullptr;
  float* variance = nullptr;
  std::int32_t* winners = nullptr;
  float* x_hat = nullptr;
};

template <class T>
struct BatchNormKernels {
  /// y = f(gamma * (x - mean) / sqrt(var + eps) + beta), where f is what follows. mean and (biased) variance
  /// are over a micro-batch's samples and pixels or, if frozen, memory.mean and memory.variance. gamma, beta:
  /// padded channels.
  void (*forward)(const BatchNormShape& shape, const T* x, const float* gamma, const float* beta,
                  float epsilon, const BatchNormMemory& memory, T* y);

  /// The same with given statistics (padded channels each).
  void (*inference)(const BatchNormShape& shape, const T* x, const float* gamma, const float* beta,
                    const float* mean, const float* variance, float epsilon, T* y);

  /// Computes dx, d gamma and d beta (summed over micro-batches; overwritten) from dy. dx may be dy if there
  /// is no pooling. If shape.gates(), `gated` is scratch memory with the shape of dy; it may be dy and dx.
  void (*backward)(const BatchNormShape& shape, const T* x, const T* dy, const float* gamma,
                   const float* beta, const BatchNormMemory& memory, T* gated, T* dx, float* dgamma,
                   float* dbeta);

  // The two directions in two parts each, with all samples as one micro-batch (shape.micro_batch =
  // in.samples), for statistics over more than these samples. Between the parts, the caller averages the
  // results of the first part over the whole batch. The second part of forward is `forward` with `frozen`.

  /// Computes E x and E x^2 over samples and pixels, (channels) each.
  void (*moments)(const BatchNormShape& shape, const T* x, double* mean, double* mean_square);

  /// Computes d gamma and d beta of these samples, (channels) each; if shape.gates() also `gated`, as in
  /// `backward`.
  void (*reduce)(const BatchNormShape& shape, const T* x, const T* dy, const float* gamma, const float* beta,
                 const BatchNormMemory& memory, T* gated, double* dgamma, double* dbeta);

  /// Computes dx from dy (if shape.gates(): from `gated`) and from d gamma and d beta of the whole batch,
  /// (channels) each, divided by its samples times pixels. dx may be that input if there is no pooling.
  void (*spread_back)(const BatchNormShape& shape, const T* x, const T* dy, const float* gamma,
                      const float* beta, const BatchNormMemory& memory, const double* mean_dgamma,
                      const double* mean_dbeta, T* dx);
};

}  // namespace convoke::nn
