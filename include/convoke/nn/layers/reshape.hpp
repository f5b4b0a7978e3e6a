#pragma once
#include <vector>

#include "convoke/nn/layer.hpp"

namespace convoke::nn {

struct Symbol;

/// (N, C, H, W) -> (N, C * H * W), channels first; (N, L, F) -> (N, L * F). A view, which costs no time.
class Flatten final : public Layer {
 public:
  std::string_view type() const override { return "flatten"; }
  Shape output_shape(std::span<const ValueSpec> inputs) const override { return {inputs[0].elements()}; }
  LayerTraits traits() const override { return {.is_view = true}; }
  Settings settings() const override { return {{"layer", "flatten"}}; }
  void compile(PlanBuilder& plan, const Node& node) const override;
};

/// y = x. A view, which costs no time.
class Identity final : public Layer {
 public:
  std::string_view type() const override { return "identity"; }
  Shape output_shape(std::span<const ValueSpec> inputs) const override { return inputs[0]; }
  LayerTraits traits() const override { return {.is_view = true}; }
  Settings settings() const override { return {{"layer", "identity"}}; }
  void compile(PlanBuilder& plan, const Node& node) const override;
};

/// The same elements in row-major order as another shape: (C, H, W), (L, F) or (F). One extent may be -1 and
/// follows from the others. An image is read channels first, (C, H, W). Keras' Reshape reads it as (H, W, C):
/// to get the same result, put permute = [2, 3, 1] before this layer and [3, 1, 2] after it.
class Reshape final : public Layer {
 public:
  explicit Reshape(std::vector<std::int64_t> shape) : shape_(std::move(shape)) {}
  std::string_view type() const override { return "reshape"; }
  Shape output_shape(std::span<const ValueSpec> inputs) const override;
  LayerTraits traits() const override { return {.is_view = true}; }
  Settings settings() const override;
  void compile(PlanBuilder& plan, const Node& node) const override;

  static LayerPtr make(LayerReader& read);

 private:
  std::vector<std::int64_t> shape_;
};

/// Reorders axes: axis i of the output is axis dims[i] of the input. Axes are counted from 1 as in Keras'
/// Permute, in our order (C, H, W) or (L, F).
class Permute final : public Layer {
 public:
  explicit Permute(std::vector<std::int64_t> dims) : dims_(std::move(dims)) {}
  std::string_view type() const override { return "permute"; }
  Shape output_shape(std::span<const ValueSpec> inputs) const override;
  Settings settings() const override;
  void compile(PlanBuilder& plan, const Node& node) const override;

  static LayerPtr make(LayerReader& read);

 private:
  std::vector<std::int64_t> dims_;
};

Symbol flatten(Symbol x);
Symbol identity(Symbol x);
Symbol reshape(Symbol x, std::vector<std::int64_t> shape);
Symbol permute(Symbol x, std::vector<std::int64_t> dims);

}  // namespace convoke::nn
