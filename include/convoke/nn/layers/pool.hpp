#pragma once
#include "convoke/nn/layer.hpp"

namespace convoke::nn {

struct Symbol;

struct PoolOptions {
  Extent size{2};
  Extent stride{0};  ///< 0: equal to size, as in Keras
  Padding padding{};
  bool ceil = false;  ///< the last window may extend beyond the end, as with PyTorch's ceil_mode (window.hpp)
  bool count_padding = false;  ///< average: padding counts as zeroes; places beyond the padding do not count
};

/// The common part of max and average pooling: (N, C, H, W) -> (N, C, H', W').
class Pool : public Layer {
 public:
  explicit Pool(PoolOptions options);
  Shape output_shape(std::span<const ValueSpec> inputs) const override;
  Settings settings() const override;

 protected:
  const PoolOptions& options() const { return options_; }
  static PoolOptions read_options(LayerReader& read);

 private:
  PoolOptions options_;
};

/// Maximum over windows; among equal values the first in row-major order wins, as in oneDNN and PyTorch.
class MaxPool final : public Pool {
 public:
  using Pool::Pool;
  std::string_view type() const override { return "max_pool"; }
  LayerTraits traits() const override;
  void compile(PlanBuilder& plan, const Node& node) const override;
  static LayerPtr make(LayerReader& read) { return std::make_shared<MaxPool>(read_options(read)); }
};

/// Mean over windows. By default padding does not count, as in Keras; count_padding gives PyTorch's default.
class AveragePool final : public Pool {
 public:
  using Pool::Pool;
  std::string_view type() const override { return "average_pool"; }
  Settings settings() const override;
  void compile(PlanBuilder& plan, const Node& node) const override;
  static LayerPtr make(LayerReader& read);
};

/// Mean or maximum over a whole image, (N, C, H, W) -> (N, C), or sequence, (N, L, F) -> (N, F).
class GlobalPool final : public Layer {
 public:
  enum class Mode { kAverage, kMax };
  enum class Over { kImage, kSequence };
  GlobalPool(Mode mode, Over over) : mode_(mode), over_(over) {}
  std::string_view type() const override;
  Shape output_shape(std::span<const ValueSpec> inputs) const override;
  Settings settings() const override { return {{"layer", type()}}; }
  void compile(PlanBuilder& plan, const Node& node) const override;

 private:
  Mode mode_;
  Over over_;
};

/// Mean or maximum over `size` windows that cover the image, (N, C, H, W) -> (N, C, height, width). Output
/// row o sees the input rows from floor(o H / height) up to, but not including, ceil((o + 1) H / height), as
/// in PyTorch's adaptive pooling.
class AdaptivePool final : public Layer {
 public:
  using Mode = GlobalPool::Mode;
  AdaptivePool(Mode mode, Extent size) : mode_(mode), size_(size) {}
  std::string_view type() const override;
  Shape output_shape(std::span<const ValueSpec> inputs) const override;
  Settings settings() const override;
  void compile(PlanBuilder& plan, const Node& node) const override;

  template <Mode kMode>
  static LayerPtr make(LayerReader& read) {
    return make(kMode, read);
  }

 private:
  static LayerPtr make(Mode mode, LayerReader& read);

  Mode mode_;
  Extent size_;  ///< size of the output
};

Symbol max_pool(Symbol x, PoolOptions options = {});
Symbol average_pool(Symbol x, PoolOptions options = {});
Symbol global_average_pool(Symbol x);
Symbol global_max_pool(Symbol x);
Symbol adaptive_average_pool(Symbol x, Extent size);
Symbol adaptive_max_pool(Symbol x, Extent size);

}  // namespace convoke::nn
