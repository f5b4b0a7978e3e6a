#pragma once
#include <cstdint>
#include <limits>

#include "nn/channel_blocks.hpp"
#include "nn/kernels/bfloat16.hpp"

namespace convoke::nn {

/// Batch normalisation, each lane by itself (S. Ioffe, C. Szegedy, "Batch Normalization", ICML 2015),
/// together with what may follow it: a ReLU (or relu6) and max pooling, or a silu or hard-swish. Both
/// directions read and write what they must once.
struct BatchNormShape {
  enum class Form { kPlain, kPooled, kSilu, kHardSwish };

  ChannelBlocks in;
  std::int64_t lane = 0;  ///< samples per lane; divides in.samples
  bool relu = false;
  std::int64_t pool_height = 1, pool_width = 1;  ///< windows that tile the image; 1 x 1: no pooling
  float ceiling =
      std::numeric_limits<float>::infinity();  ///< of that ReLU: 6 for relu6; without pooling only
  Form curve = Form::kPlain;                   ///< kSilu or kHardSwish: then neither ReLU nor pooling
  bool frozen = false;                         ///< mean and variance are given, constants, in all lanes
  Form form() const { return pooled() ? Form::kPooled : curve; }
  bool pooled() const { return pool_height * pool_width > 1; }
  /// True if the gradient of what follows is found once and written down: `gated` below.
  bool gates() const { return form() != Form::kPlain; }
  std::int64_t lanes() const { return in.samples / lane; }
  std::int64_t out_height() const { return in.height / pool_height; }
  std::int64_t out_width() const { return in.width / pool_width; }
};

/// What forward keeps for backward. mean, scale and variance are (lanes, padded channels); scale is 1 /
/// sqrt(var + eps). Pooled only: winners and x_hat (the normalised winner) as large as y.
struct BatchNormMemory {
  float* mean = nullptr;
  float* scale = nullptr;
  float* variance = nullptr;
  std::int32_t* winners = nullptr;
  float* x_hat = nullptr;
};

/// y = f(gamma * (x - mean) / sqrt(var + eps) + beta), f what follows, mean and (biased) variance over a
/// lane's samples and pixels, or, if frozen, as memory.mean and memory.variance stand. gamma, beta: padded
/// channels.
void batch_norm_forward(const BatchNormShape& shape, const float* x, const float* gamma, const float* beta,
                        float epsilon, const BatchNormMemory& memory, float* y);
void batch_norm_forward(const BatchNormShape& shape, const Bf16* x, const float* gamma, const float* beta,
                        float epsilon, const BatchNormMemory& memory, Bf16* y);

/// The same with given statistics (padded channels each).
void batch_norm_inference(const BatchNormShape& shape, const float* x, const float* gamma, const float* beta,
                          const float* mean, const float* variance, float epsilon, float* y);
void batch_norm_inference(const BatchNormShape& shape, const Bf16* x, const float* gamma, const float* beta,
                          const float* mean, const float* variance, float epsilon, Bf16* y);

/// dx, d gamma and d beta (summed over lanes; overwritten) from dy. dx may be dy if there is no pooling; if
/// shape.gates(), `gated` is scratch as large as dy and may be dy, and without pooling dx.
void batch_norm_backward(const BatchNormShape& shape, const float* x, const float* dy, const float* gamma,
                         const float* beta, const BatchNormMemory& memory, float* gated, float* dx,
                         float* dgamma, float* dbeta);
void batch_norm_backward(const BatchNormShape& shape, const Bf16* x, const Bf16* dy, const float* gamma,
                         const float* beta, const BatchNormMemory& memory, Bf16* gated, Bf16* dx,
                         float* dgamma, float* dbeta);

}  // namespace convoke::nn
