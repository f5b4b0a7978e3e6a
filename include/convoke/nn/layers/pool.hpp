#pragma once
#include "convoke/nn/layer_keys.hpp"

namespace convoke::nn {

struct PoolOptions {
  Extent size{2};
  Extent stride{0};  ///< 0: equal to size, as in Keras
  Padding padding{};
  bool ceil = false;  ///< the last window may extend beyond the end, as with PyTorch's ceil_mode (window.hpp)
  bool count_padding = false;  ///< average: padding counts as zeroes, positions beyond it do not
};

enum class PoolMode { kAverage, kMax };

/// Maximum or mean over windows: (N, C, H, W) -> (N, C, H', W'). Among equal values the first in row-major
/// order is the maximum, as in oneDNN and PyTorch. In a mean, padding does not count by default, as in Keras;
/// count_padding gives PyTorch's default.
class Pool final : public KeyedLayer<PoolOptions> {
 public:
  explicit Pool(PoolMode mode, PoolOptions options = {});
  std::string_view type() const override { return mode_ == PoolMode::kMax ? "max_pool" : "average_pool"; }
  Shape output_shape(std::span<const ValueSpec> inputs) const override;
  LayerTraits traits() const override;
  void compile(PlanBuilder& plan, const Node& node) const override;

  static Keys keys(PoolMode mode);

 private:
  PoolMode mode_;
};

/// Mean or maximum over a whole image, (N, C, H, W) -> (N, C), or sequence, (N, L, F) -> (N, F).
class GlobalPool final : public Layer {
 public:
  enum class Over { kImage, kSequence };
  GlobalPool(PoolMode mode, Over over) : mode_(mode), over_(over) {}
  std::string_view type() const override;
  Shape output_shape(std::span<const ValueSpec> inputs) const override;
  void compile(PlanBuilder& plan, const Node& node) const override;

 private:
  PoolMode mode_;
  Over over_;
};

struct AdaptivePoolOptions {
  Extent size{1};  ///< size of the output
};

/// Mean or maximum over `size` windows that cover the image, (N, C, H, W) -> (N, C, height, width). Output
/// row o sees the input rows from floor(o H / height) up to, but not including, ceil((o + 1) H / height), as
/// in PyTorch's adaptive pooling.
class AdaptivePool final : public KeyedLayer<AdaptivePoolOptions> {
 public:
  explicit AdaptivePool(PoolMode mode, AdaptivePoolOptions options = {})
      : KeyedLayer(keys(mode), options), mode_(mode) {}
  std::string_view type() const override;
  Shape output_shape(std::span<const ValueSpec> inputs) const override;
  void compile(PlanBuilder& plan, const Node& node) const override;

  static Keys keys(PoolMode mode);

 private:
  PoolMode mode_;
};

inline Symbol max_pool(Symbol x, PoolOptions options = {}) { return apply(Pool(PoolMode::kMax, options), x); }
inline Symbol average_pool(Symbol x, PoolOptions options = {}) {
  return apply(Pool(PoolMode::kAverage, options), x);
}
inline Symbol global_average_pool(Symbol x) {
  return apply(GlobalPool(PoolMode::kAverage, GlobalPool::Over::kImage), x);
}
inline Symbol global_max_pool(Symbol x) {
  return apply(GlobalPool(PoolMode::kMax, GlobalPool::Over::kImage), x);
}
inline Symbol adaptive_average_pool(Symbol x, Extent size) {
  return apply(AdaptivePool(PoolMode::kAverage, AdaptivePoolOptions{size}), x);
}
inline Symbol adaptive_max_pool(Symbol x, Extent size) {
  return apply(AdaptivePool(PoolMode::kMax, AdaptivePoolOptions{size}), x);
}

struct Pool1dOptions {
  std::int64_t size = 2;
  std::int64_t stride = 0;     ///< 0: equal to size, as in Keras
  Padding padding{};           ///< along the sequence
  bool ceil = false;           ///< as in PoolOptions
  bool count_padding = false;  ///< average: as in PoolOptions
};

/// Maximum or mean over windows along a sequence, (N, L, F) -> (N, L', F), as max_pool and average_pool.
class Pool1d final : public KeyedLayer<Pool1dOptions> {
 public:
  explicit Pool1d(PoolMode mode, Pool1dOptions options = {});
  std::string_view type() const override;
  Shape output_shape(std::span<const ValueSpec> inputs) const override;
  void compile(PlanBuilder& plan, const Node& node) const override;

  static Keys keys(PoolMode mode);

 private:
  PoolOptions over_image() const;

  PoolMode mode_;
};

inline Symbol max_pool1d(Symbol x, Pool1dOptions options = {}) {
  return apply(Pool1d(PoolMode::kMax, options), x);
}
inline Symbol average_pool1d(Symbol x, Pool1dOptions options = {}) {
  return apply(Pool1d(PoolMode::kAverage, options), x);
}
inline Symbol global_average_pool1d(Symbol x) {
  return apply(GlobalPool(PoolMode::kAverage, GlobalPool::Over::kSequence), x);
}
inline Symbol global_max_pool1d(Symbol x) {
  return apply(GlobalPool(PoolMode::kMax, GlobalPool::Over::kSequence), x);
}

}  // namespace convoke::nn
