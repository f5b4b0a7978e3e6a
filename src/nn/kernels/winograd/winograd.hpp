#pragma once
#include <cstddef>
#include <cstdint>

namespace convoke::nn {

/// How an output axis falls into tiles of 4, 3 and 2 pixels: fours, and a rest that wastes none (5 = 3 + 2).
/// A single pixel takes a tile of 2.
class TileAxis {
 public:
  explicit TileAxis(std::int64_t extent);
  int count() const;
  int start(int tile) const;  ///< its first pixel
  int size(int tile) const;
  /// Points of all tiles along the axis: what is multiplied, instead of 3 products a pixel.
  int points() const;

 private:
  int fours_, rest_;
};

/// Tiles that are transformed, multiplied and transformed back together, at most.
constexpr int kMostTiles = 256;

/// A 3 x 3 convolution of stride 1 over images (N, C / block, H, W, block), all channels multiples of the
/// block of WinogradKernels.
struct WinogradShape {
  std::int64_t samples = 0;
  std::int64_t in_channels = 0, out_channels = 0;
  std::int64_t in_height = 0, in_width = 0;
  std::int64_t out_height = 0, out_width = 0;
  std::int64_t top = 0, left = 0;  ///< rows and columns of zeroes before the image; those after it follow

  std::int64_t tiles() const;
  /// Tiles of a block, of forward and data_gradient, and of weight_gradient.
  std::int64_t tiles_per_block() const;
  std::int64_t gradient_tiles_per_block() const;
  /// Floats of transformed weights, and from one of their 36 points to the next. These are a cache line more
  /// apart than what they hold, for products of channels are powers of 2: all points of a filter would fall
  /// into the same sets of the cache (measured: three times the time of the transform).
  std::int64_t weight_floats() const { return 36 * weight_stride(); }
  std::int64_t weight_stride() const { return in_channels * out_channels + 16; }
  /// True if those are so large that reading them costs more than making them from the weights, piece by
  /// piece, in every pass: then forward and data_gradient take the weights as they are.
  bool by_pieces() const;
};

/// Winograd's minimal filtering, F(4 x 4, 3 x 3) and smaller tiles at the edges, as three passes that are
/// transposes of each other:
///   y  = A^T [U . (B^T x B)] A,  U = G w G^T
///   dx = B [U^T . (A dy A^T)] B^T
///   dw = G^T [sum of (B^T x B) (A dy A^T)] G
/// A tile's results do not depend on its neighbours, and their sums over tiles run in the order of
/// samples and pixels. `gate`, if not null: dy counts where the gate (N, K / block, H', W', block), the
/// output of a ReLU, is above 0. Nothing is allocated.
///
/// Source: Lavin and Gray, Fast Algorithms for Convolutional Neural Networks, arXiv:1509.09308.
struct WinogradKernels {
  std::int64_t block;  ///< channels side by side in images, weights and vectors
  const char* name;    ///< "convoke:winograd_avx512"

  /// Floats of `scratch` for forward and data_gradient, and for weight_gradient; it must be 64-byte aligned.
  std::int64_t (*scratch_floats)(const WinogradShape& shape);
  std::int64_t (*gradient_scratch_floats)(const WinogradShape& shape);

  /// w (K / block, C / block, 3, 3, block of C, block of K) -> U, or U^T for data_gradient: weight_floats().
  void (*transform)(std::int64_t in_channels, std::int64_t out_channels, const float* w, float* u);
  void (*transform_transposed)(std::int64_t in_channels, std::int64_t out_channels, const float* w, float* u);

  /// `weights`: U, or w if shape.by_pieces(). `bias` (K) may be null; `rectified`: y = max(y, 0).
  void (*forward)(const WinogradShape& shape, const float* x, const float* weights, const float* bias,
                  bool rectified, float* y, float* scratch);
  /// `weights`: U^T, or w. Writes all of dx.
  void (*data_gradient)(const WinogradShape& shape, const float* dy, const float* gate, const float* weights,
                        float* dx, float* scratch);
  /// Writes all of dw, laid out as w, and of dbias (K), which may be null. `weights` and `dx`: null, or what
  /// data_gradient takes, whose work is then done as well, on the same transform of dy and with the same
  /// bits, where joins_gradients().
  void (*weight_gradient)(const WinogradShape& shape, const float* x, const float* dy, const float* gate,
                          float* dw, float* dbias, const float* weights, float* dx, float* scratch);
  bool (*joins_gradients)(const WinogradShape& shape);
};

/// Those of the instruction set that oneDNN uses here (its direct kernels have the same blocks), AVX-512 or
/// AVX2; null if it has neither.
const WinogradKernels* winograd_kernels();

extern const WinogradKernels kWinogradAvx512, kWinogradAvx2;

}  // namespace convoke::nn
