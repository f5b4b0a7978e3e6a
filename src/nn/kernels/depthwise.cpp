#include "nn/kernels/depthwise.hpp"

#include <algorithm>
#include <cstring>

#include "nn/kernels/instruction_sets.hpp"
#include "nn/kernels/vectors.hpp"

namespace convoke::nn {
namespace {

/// sum[k] += dy[p] x[p * stride + k * dilation].
template <int K, class T, class Vector>
[[gnu::always_inline]] inline void add_pixel(const Vector* x, const T* dy, std::int64_t p,
                                             std::int64_t stride, std::int64_t dilation, Vector (&sum)[K]) {
  Vector d;
  load_vector(dy + p * kValuesOf<Vector>, d);
#pragma GCC unroll 8
  for (int k = 0; k < K; ++k) sum[k] += d * x[p * stride + k * dilation];
}

/// taps[k] += sum over the chunk's pixels of dy[p] x[p * stride + k * dilation]. Small kernels have two sums
/// for each tap: a sum waits four cycles for the one before. The sums stay in registers; without the pragmas,
/// GCC copies them as memory.
template <int K, class T, class Vector>
[[gnu::always_inline]] inline void add_row(const Vector* x, const T* dy, std::int64_t pixels,
                                           std::int64_t stride, std::int64_t dilation, Vector* taps) {
  constexpr int kSums = K <= 5 ? 2 : 1;
  Vector even[K], odd[K];
#pragma GCC unroll 8
  for (int k = 0; k < K; ++k) {
    even[k] = taps[k];
    odd[k] = Vector{};
  }
  std::int64_t p = 0;
  for (; p + kSums <= pixels; p += kSums) {
    add_pixel(x, dy, p, stride, dilation, even);
    if constexpr (kSums == 2) add_pixel(x, dy, p + 1, stride, dilation, odd);
  }
  if (p < pixels) add_pixel(x, dy, p, stride, dilation, even);
#pragma GCC unroll 8
  for (int k = 0; k < K; ++k) taps[k] = even[k] + odd[k];
}

template <class T, class Vector>
[[gnu::always_inline]] inline void add_row(std::int64_t kernel, const Vector* x, const T* dy,
                                           std::int64_t pixels, std::int64_t stride, std::int64_t dilation,
                                           Vector* taps) {
  if (kernel == 3) return add_row<3>(x, dy, pixels, stride, dilation, taps);
  if (kernel == 5) return add_row<5>(x, dy, pixels, stride, dilation, taps);
  if (kernel == 7) return add_row<7>(x, dy, pixels, stride, dilation, taps);
  for (std::int64_t k = 0; k < kernel; ++k) {
    add_row<1>(x + k * dilation, dy, pixels, stride, dilation, taps + k);
  }
}

// Writes `count` pixels of a row of x, from pixel `first` on, as floats, with zeros outside the row.
template <class T, class Vector>
[[gnu::always_inline]] inline void convert_row(const DepthwiseShape& s, const T* row, std::int64_t first,
                                               std::int64_t count, Vector* to) {
  const std::int64_t begin = std::clamp<std::int64_t>(-first, 0, count);
  const std::int64_t end = std::clamp<std::int64_t>(s.width - first, begin, count);
  std::fill(to, to + begin, Vector{});
  for (std::int64_t i = begin; i < end; ++i) {
    if (s.one_channel) {
      to[i] = Vector{} + static_cast<float>(row[first + i]);
    } else {
      load_vector(row + (first + i) * kValuesOf<Vector>, to[i]);
    }
  }
  std::fill(to + end, to + count, Vector{});
}

//   dW[c, i, j] = sum over samples and output pixels (h, w) of dy[c, h, w] x[c, h s + i d - p, w s + j d - p]
// for one sample and block of channels: `taps` (KH, KW). A piece of a row of x is converted once, and every
// row of dy that needs it reads it from there.
template <class T, class Vector>
[[gnu::always_inline]] inline void add_sample(const DepthwiseShape& s, const T* x, const T* dy,
                                              Vector* taps) {
  Vector row[DepthwiseShape::kRowPixels];
  const std::int64_t reach = (s.kernel_width - 1) * s.dilation_width + 1;
  const std::int64_t chunk = (DepthwiseShape::kRowPixels - reach) / s.stride_width + 1;
  for (std::int64_t h = 0; h < s.height; ++h) {
    for (std::int64_t w = 0; w < s.out_width; w += chunk) {
      const std::int64_t pixels = std::min(chunk, s.out_width - w);
      convert_row(s, x + h * s.width * s.x_block(), w * s.stride_width - s.pad_left,
                  (pixels - 1) * s.stride_width + reach, row);
      for (std::int64_t i = 0; i < s.kernel_height; ++i) {
        const std::int64_t from = h + s.pad_top - i * s.dilation_height;  // = output row * stride
        if (from < 0 || from % s.stride_height != 0 || from / s.stride_height >= s.out_height) continue;
        add_row(s.kernel_width, row, dy + (from / s.stride_height * s.out_width + w) * kValuesOf<Vector>,
                pixels, s.stride_width, s.dilation_width, taps + i * s.kernel_width);
      }
    }
  }
}

template <class Vector, class T>
[[gnu::always_inline]] inline void blocks_body(const DepthwiseShape& s, const T* x, const T* dy,
                                               float* dweight, float* dbias) {
  const std::int64_t in = s.height * s.width * s.x_block();
  const std::int64_t out = s.out_height * s.out_width * kValuesOf<Vector>;
  const std::int64_t count = s.kernel_height * s.kernel_width;
  for (std::int64_t g = 0; g < s.blocks; ++g) {
    // Sums each sample first. If single products were added to the total, they would be rounded to its
    // precision.
    Vector total[DepthwiseShape::kMaxTaps] = {};
    Vector bias = {};
    for (std::int64_t n = 0; n < s.samples; ++n) {
      const T* mine = dy + (n * s.blocks + g) * out;
      Vector taps[DepthwiseShape::kMaxTaps] = {};
      add_sample(s, x + (s.one_channel ? n : n * s.blocks + g) * in, mine, taps);
      for (std::int64_t k = 0; k < count; ++k) total[k] += taps[k];
      if (dbias == nullptr) continue;
      Vector sum = {};
      for (std::int64_t p = 0; p < s.out_height * s.out_width; ++p) {
        Vector d;
        load_vector(mine + p * kValuesOf<Vector>, d);
        sum += d;
      }
      bias += sum;
    }
    std::memcpy(dweight + g * count * kValuesOf<Vector>, total,
                static_cast<std::size_t>(count) * sizeof(Vector));
    if (dbias != nullptr) std::memcpy(dbias + g * kValuesOf<Vector>, &bias, sizeof bias);
  }
}

template <class T>
void backward_weights(const DepthwiseShape& s, const T* x, const T* dy, float* dweight, float* dbias) {
  if (s.block == 16) return blocks_body<Floats<16>>(s, x, dy, dweight, dbias);
  blocks_body<Floats<8>>(s, x, dy, dweight, dbias);
}

}  // namespace

CONVOKE_KERNELS(DepthwiseKernels, backward_weights)

}  // namespace convoke::nn
