#pragma once
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "nn/kernels/bfloat16.hpp"

namespace convoke::nn {

/// How an output axis is divided into tiles of 4, 3 and 2 pixels: fours, and a rest without waste (5 = 3 +
/// 2). A single pixel uses a tile of 2.
class TileAxis {
 public:
  explicit TileAxis(std::int64_t extent);
  int count() const;
  int start(int tile) const;  ///< the tile's first pixel
  int size(int tile) const;
  /// Returns the points of all tiles along the axis: one product for each, instead of 3 products per pixel.
  int points() const;

 private:
  int fours_, rest_;
};

/// The most tiles that are transformed, multiplied and transformed back together.
constexpr int kMostTiles = 256;

/// A 3 x 3 convolution of stride 1 over images (N, C / block, H, W, block). All channels are multiples of the
/// block of WinogradKernels.
struct WinogradShape {
  std::int64_t samples = 0;
  std::int64_t in_channels = 0, out_channels = 0;
  std::int64_t in_height = 0, in_width = 0;
  std::int64_t out_height = 0, out_width = 0;
  /// rows and columns of zeroes before the image; those after it follow from the shape
  std::int64_t top = 0, left = 0;

  std::int64_t tiles() const;
  /// Return the number of tiles in a block, for forward and data_gradient, and for weight_gradient.
  std::int64_t tiles_per_block() const;
  std::int64_t gradient_tiles_per_block() const;
  /// Return the floats of transformed weights, and from one of their 36 points to the next. The points are
  /// one cache line further apart than their size, because products of channels are powers of 2: all points
  /// of a filter would otherwise map to the same sets of the cache (measured: three times the time of the
  /// transform).
  std::int64_t weight_floats() const { return 36 * weight_stride(); }
  std::int64_t weight_stride() const { return in_channels * out_channels + 16; }
  /// True if transformed weights are so large that reading them costs more than transforming the weights
  /// piece by piece in every pass. forward and data_gradient then read the weights themselves.
  bool by_pieces() const;
};

/// Winograd's minimal filtering, F(4 x 4, 3 x 3) with smaller tiles at the edges, as three passes that are
/// transposes of each other:
///   y  = A^T [U . (B^T x B)] A,  U = G w G^T
///   dx = B [U^T . (A dy A^T)] B^T
///   dw = G^T [sum of (B^T x B) (A dy A^T)] G
/// A tile's results do not depend on its neighbors, and sums over tiles run in the order of samples and
/// pixels. `gate`, if not null, is the output of a ReLU, (N, K / block, H', W', block): dy counts where it is
/// above 0. Allocates nothing.
///
/// Source: Lavin and Gray, Fast Algorithms for Convolutional Neural Networks, arXiv:1509.09308.
template <class T>
struct WinogradPasses {
  /// `weights`: U, or w if shape.by_pieces(). `bias` (K) may be null. `rectified`: y = max(y, 0).
  void (*forward)(const WinogradShape& shape, const T* x, const float* weights, const float* bias,
                  bool rectified, T* y, float* scratch);
  /// `weights`: U^T, or w if shape.by_pieces(). Writes all of dx.
  void (*data_gradient)(const WinogradShape& shape, const T* dy, const T* gate, const float* weights, T* dx,
                        float* scratch);
  /// Writes all of dw, with the layout of w, and of dbias (K), which may be null. `weights` and `dx` are null
  /// or, if joins_gradients(), the arguments of data_gradient: its work is then done too, with the same
  /// transform of dy and the same bits.
  void (*weight_gradient)(const WinogradShape& shape, const T* x, const T* dy, const T* gate, float* dw,
                          float* dbias, const float* weights, T* dx, float* scratch);
};

/// The passes over images that are stored as T, and what they share. They compute in float, and read weights
/// as floats.
struct WinogradKernels {
  std::int64_t block;  ///< neighboring channels in images, weights and vectors
  const char* name;    ///< "convoke:winograd_avx512"

  /// Return the floats of `scratch` for forward and data_gradient, and for weight_gradient. `scratch` must be
  /// 64-byte aligned.
  std::int64_t (*scratch_floats)(const WinogradShape& shape);
  std::int64_t (*gradient_scratch_floats)(const WinogradShape& shape);

  /// Transforms w (K / block, C / block, 3, 3, block of C, block of K) to U, or to U^T for data_gradient:
  /// weight_floats(). `shared`: other cores read U next (copy_non_temporal).
  void (*transform)(std::int64_t in_channels, std::int64_t out_channels, const float* w, bool shared,
                    float* u);
  void (*transform_transposed)(std::int64_t in_channels, std::int64_t out_channels, const float* w,
                               bool shared, float* u);

  bool (*joins_gradients)(const WinogradShape& shape);

  WinogradPasses<float> fp32;
  WinogradPasses<Bf16> bf16;
  template <class T>
  const WinogradPasses<T>& passes() const {
    if constexpr (std::is_same_v<T, float>) {
      return fp32;
    } else {
      return bf16;
    }
  }
};

/// Returns the kernels for the instruction set that is used here, AVX-512 or AVX2 (oneDNN's direct kernels
/// have the same blocks). Returns null if it is neither.
const WinogradKernels* winograd_kernels();

}  // namespace convoke::nn
