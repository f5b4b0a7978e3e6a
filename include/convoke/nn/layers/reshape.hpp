#pragma once
#include <vector>

#include "convoke/nn/layer_keys.hpp"

namespace convoke::nn {

/// (N, C, H, W) -> (N, C * H * W), channels first; (N, L, F) -> (N, L * F). A view, which costs no time.
class Flatten final : public Layer {
 public:
  std::string_view type() const override { return "flatten"; }
  Shape output_shape(std::span<const ValueSpec> inputs) const override { return {inputs[0].elements()}; }
  LayerTraits traits() const override { return {.is_view = true}; }
  void compile(PlanBuilder& plan, const Node& node) const override;
};

/// y = x. A view, which costs no time.
class Identity final : public Layer {
 public:
  std::string_view type() const override { return "identity"; }
  LayerTraits traits() const override { return {.is_view = true}; }
  void compile(PlanBuilder& plan, const Node& node) const override;
};

struct ReshapeOptions {
  std::vector<std::int64_t> shape;  ///< one extent may be -1
};

/// The same elements in row-major order as another shape: (C, H, W), (L, F) or (F). One extent may be -1 and
/// follows from the others. An image is read channels first, (C, H, W). Keras' Reshape reads it as (H, W, C):
/// to get the same result, put permute = [2, 3, 1] before this layer and [3, 1, 2] after it.
class Reshape final : public KeyedLayer<ReshapeOptions> {
 public:
  explicit Reshape(ReshapeOptions options = {}) : KeyedLayer(keys(), std::move(options)) {}
  std::string_view type() const override { return "reshape"; }
  Shape output_shape(std::span<const ValueSpec> inputs) const override;
  LayerTraits traits() const override { return {.is_view = true}; }
  void compile(PlanBuilder& plan, const Node& node) const override;

  static Keys keys();
  static void check(const SettingsReader& read, const ReshapeOptions& o);
};

struct PermuteOptions {
  std::vector<std::int64_t> dims;  ///< counted from 1
};

/// Reorders axes: axis i of the output is axis dims[i] of the input. Axes are counted from 1 as in Keras'
/// Permute, in our order (C, H, W) or (L, F).
class Permute final : public KeyedLayer<PermuteOptions> {
 public:
  explicit Permute(PermuteOptions options = {}) : KeyedLayer(keys(), std::move(options)) {}
  std::string_view type() const override { return "permute"; }
  Shape output_shape(std::span<const ValueSpec> inputs) const override;
  void compile(PlanBuilder& plan, const Node& node) const override;

  static Keys keys();
  static void check(const SettingsReader& read, const PermuteOptions& o);
};

inline Symbol flatten(Symbol x) { return apply(Flatten(), x); }
inline Symbol identity(Symbol x) { return apply(Identity(), x); }
inline Symbol reshape(Symbol x, std::vector<std::int64_t> shape) {
  return apply(Reshape(ReshapeOptions{std::move(shape)}), x);
}
inline Symbol permute(Symbol x, std::vector<std::int64_t> dims) {
  return apply(Permute(PermuteOptions{std::move(dims)}), x);
}

}  // namespace convoke::nn
