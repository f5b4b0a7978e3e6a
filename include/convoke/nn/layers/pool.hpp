#pragma once
#include "convoke/nn/layer.hpp"
#include "convoke/nn/layers/extent.hpp"

namespace convoke::nn {

struct Symbol;

struct PoolOptions {
  Extent size{2};
  Extent stride{0};  ///< 0: as size, as Keras
  Padding padding{};
};

/// What max and average pooling share: (N, C, H, W) -> (N, C, H', W').
class Pool : public Layer {
 public:
  explicit Pool(PoolOptions options);
  Shape output_shape(std::span<const ValueSpec> inputs) const override;
  Settings settings() const override;
  const PoolOptions& options() const { return options_; }
  /// True if windows do not overlap and nothing is padded.
  bool tiles() const;

 protected:
  static PoolOptions read_options(SettingsReader& read);

 private:
  PoolOptions options_;
};

/// Maximum over windows; among equal values the first in row-major order, as oneDNN and PyTorch.
class MaxPool final : public Pool {
 public:
  using Pool::Pool;
  std::string_view type() const override { return "max_pool"; }
  void compile(PlanBuilder& plan, const Node& node) const override;
  static LayerPtr make(SettingsReader& read) { return std::make_shared<MaxPool>(read_options(read)); }
};

/// Mean over windows; padding does not count, as Keras.
class AveragePool final : public Pool {
 public:
  using Pool::Pool;
  std::string_view type() const override { return "average_pool"; }
  void compile(PlanBuilder& plan, const Node& node) const override;
  static LayerPtr make(SettingsReader& read) { return std::make_shared<AveragePool>(read_options(read)); }
};

/// Mean over the image: (N, C, H, W) -> (N, C).
class GlobalAveragePool final : public Layer {
 public:
  std::string_view type() const override { return "global_average_pool"; }
  Shape output_shape(std::span<const ValueSpec> inputs) const override;
  Settings settings() const override;
  void compile(PlanBuilder& plan, const Node& node) const override;
  static LayerPtr make(SettingsReader&) { return std::make_shared<GlobalAveragePool>(); }
};

Symbol max_pool(Symbol x, PoolOptions options = {});
Symbol average_pool(Symbol x, PoolOptions options = {});
Symbol global_average_pool(Symbol x);

}  // namespace convoke::nn
