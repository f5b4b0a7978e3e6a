#pragma once
#include "convoke/nn/layer_keys.hpp"

namespace convoke::nn {

struct RescaleOptions {
  double scale = 1;
  double offset = 0;
};

/// y = scale x + offset. Any shape, which it keeps. Equal to Keras' Rescaling: scale 1 / 127.5 and offset -1
/// map pixels to [-1, 1].
class Rescale final : public KeyedLayer<RescaleOptions> {
 public:
  explicit Rescale(RescaleOptions options = {}) : KeyedLayer(keys(), std::move(options)) {}
  std::string_view type() const override { return "rescale"; }
  void compile(PlanBuilder& plan, const Node& node) const override;

  static Keys keys();
};

struct StandardizeOptions {
  std::vector<double> mean;      ///< one for each channel or feature, or one for all
  std::vector<double> variance;  ///< as many, > 0
};

/// y = (x - mean) / sqrt(variance) for each channel of (N, C, H, W), or feature of (N, L, F) or (N, F); equal
/// to Keras' Normalization with mean and variance.
class Standardize final : public KeyedLayer<StandardizeOptions> {
 public:
  explicit Standardize(StandardizeOptions options = {}) : KeyedLayer(keys(), std::move(options)) {}
  std::string_view type() const override { return "standardize"; }
  Shape output_shape(std::span<const ValueSpec> inputs) const override;
  void compile(PlanBuilder& plan, const Node& node) const override;

  static Keys keys();
  static void check(const SettingsReader& read, const StandardizeOptions& o);
};

inline Symbol rescale(Symbol x, RescaleOptions options) { return apply(Rescale(options), x); }
inline Symbol standardize(Symbol x, StandardizeOptions options) {
  return apply(Standardize(std::move(options)), x);
}

}  // namespace convoke::nn
