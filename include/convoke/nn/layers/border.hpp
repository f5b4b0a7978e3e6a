#pragma once
#include "convoke/nn/layer.hpp"
#include "convoke/nn/layers/extent.hpp"

namespace convoke::nn {

struct Symbol;

/// Rows and columns at the four sides of an image.
struct Border {
  Extent before{0};  ///< top, left
  Extent after{0};   ///< bottom, right
  Border() = default;
  Border(Extent around) : before(around), after(around) {}  // NOLINT: `zero_pad(x, Extent(1))`
  Border(std::int64_t around) : Border(Extent(around)) {}   // NOLINT: `zero_pad(x, 1)`
  Border(Extent first, Extent last) : before(first), after(last) {}
};

/// The padding of a window that sees what is inside a border of zeroes; `own` is not "same".
Padding padded_by(const Padding& own, const Border& border);

/// Zeroes around an image: (N, C, H, W) -> (N, C, top + H + bottom, left + W + right). A convolution that
/// follows takes it into its own padding (nn/plan/fusion).
class ZeroPad final : public Layer {
 public:
  explicit ZeroPad(Border padding) : padding_(padding) {}
  std::string_view type() const override { return "zero_pad"; }
  Shape output_shape(std::span<const ValueSpec> inputs) const override;
  Settings settings() const override;
  void compile(PlanBuilder& plan, const Node& node) const override;
  const Border& padding() const { return padding_; }

  static LayerPtr make(SettingsReader& read);

 private:
  Border padding_;
};

/// An image without its border: (N, C, H, W) -> (N, C, H - top - bottom, W - left - right).
class Crop final : public Layer {
 public:
  explicit Crop(Border cropping) : cropping_(cropping) {}
  std::string_view type() const override { return "crop"; }
  Shape output_shape(std::span<const ValueSpec> inputs) const override;
  Settings settings() const override;
  void compile(PlanBuilder& plan, const Node& node) const override;

  static LayerPtr make(SettingsReader& read);

 private:
  Border cropping_;
};

Symbol zero_pad(Symbol x, Border padding = 1);
Symbol crop(Symbol x, Border cropping);

}  // namespace convoke::nn
