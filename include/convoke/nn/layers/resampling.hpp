#pragma once
#include <cstdint>
#include <vector>

#include "convoke/nn/layer_keys.hpp"

// Layers that change the height and width of an image: resize, zero_pad, crop.
namespace convoke::nn {

struct ResizeOptions {
  enum class Method { kNearest, kBilinear };
  /// Where on an axis of the input, whose pixels are at 0 .. in - 1, the output pixel o of `out` lies.
  enum class Centers {
    kHalfPixel,     ///< (o + 1/2) in / out - 1/2
    kAlignCorners,  ///< o (in - 1) / (out - 1), or 0 if there is one output
    kAsymmetric,    ///< o in / out
  };
  /// Which pixel is the nearest: "round" rounds half up or half down. Names are ONNX's.
  enum class Rounding { kRoundPreferCeil, kRoundPreferFloor, kFloor, kCeil };
  Extent size{0};   ///< size of the output; 0 if `scale` is given
  Extent scale{0};  ///< factor on the input's size; 0 if `size` is given
  Method method = Method::kNearest;
  Centers centers = Centers::kHalfPixel;
  Rounding rounding = Rounding::kRoundPreferCeil;  ///< for kNearest
};

/// An output pixel along one axis: (1 - next) of input pixel `pixel`, and `next` of the one behind it.
struct ResizedPixel {
  std::int64_t pixel = 0;
  double next = 0;  ///< [0, 1)
};
/// Returns the output pixels along an axis of `inputs` pixels.
std::vector<ResizedPixel> resized_pixels(std::int64_t inputs, std::int64_t outputs,
                                         const ResizeOptions& options);

/// (N, C, H, W) -> (N, C, H', W') by interpolation, without smoothing when the image shrinks. The defaults
/// are Keras' Resizing and UpSampling2D, and PyTorch's interpolate with "nearest-exact" or "bilinear".
/// PyTorch's "nearest" is kAsymmetric with kFloor, and its align_corners=True is kAlignCorners. ONNX's Resize
/// has all of them; its default is kRoundPreferFloor.
class Resize final : public KeyedLayer<ResizeOptions> {
 public:
  explicit Resize(ResizeOptions options = {}) : KeyedLayer(keys(), std::move(options)) {}
  std::string_view type() const override { return "resize"; }
  Shape output_shape(std::span<const ValueSpec> inputs) const override;
  void compile(PlanBuilder& plan, const Node& node) const override;

  static Keys keys();
  static void check(const SettingsReader& read, const ResizeOptions& o);
};

inline Symbol resize(Symbol x, ResizeOptions options) { return apply(Resize(options), x); }

struct ZeroPadOptions {
  Border padding = 1;
};

/// Adds zeroes around an image: (N, C, H, W) -> (N, C, top + H + bottom, left + W + right). A convolution
/// that follows includes them in its own padding (nn/plan/fusion).
class ZeroPad final : public KeyedLayer<ZeroPadOptions> {
 public:
  explicit ZeroPad(ZeroPadOptions options = {}) : KeyedLayer(keys(), std::move(options)) {}
  std::string_view type() const override { return "zero_pad"; }
  Shape output_shape(std::span<const ValueSpec> inputs) const override;
  LayerTraits traits() const override { return {.zero_border = options_.padding}; }
  void compile(PlanBuilder& plan, const Node& node) const override;

  static Keys keys();
};

struct CropOptions {
  Border cropping{};
};

/// Removes the border of an image: (N, C, H, W) -> (N, C, H - top - bottom, W - left - right).
class Crop final : public KeyedLayer<CropOptions> {
 public:
  explicit Crop(CropOptions options = {}) : KeyedLayer(keys(), std::move(options)) {}
  std::string_view type() const override { return "crop"; }
  Shape output_shape(std::span<const ValueSpec> inputs) const override;
  void compile(PlanBuilder& plan, const Node& node) const override;

  static Keys keys();
};

inline Symbol zero_pad(Symbol x, Border padding = 1) { return apply(ZeroPad(ZeroPadOptions{padding}), x); }
inline Symbol crop(Symbol x, Border cropping) { return apply(Crop(CropOptions{cropping}), x); }

}  // namespace convoke::nn
