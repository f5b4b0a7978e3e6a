#pragma once
#include <vector>

#include "convoke/nn/layers/axis.hpp"

namespace convoke::nn {

struct SliceOptions {
  Axis axis{};
  std::int64_t begin = 0;  ///< >= 0
  std::int64_t size = 0;   ///< 0: all that follows `begin`
};

/// A part of a value along an axis: channels begin..begin + size - 1 of (N, C, H, W), or rows, columns,
/// time steps or features. Several slices make a split.
class Slice final : public KeyedLayer<SliceOptions> {
 public:
  explicit Slice(SliceOptions options = {}) : KeyedLayer(keys(), std::move(options)) {}
  std::string_view type() const override { return "slice"; }
  Shape output_shape(std::span<const ValueSpec> inputs) const override;
  void compile(PlanBuilder& plan, const Node& node) const override;

  static Keys keys();
};

inline Symbol slice(Symbol x, SliceOptions options) { return apply(Slice(std::move(options)), x); }
/// Returns `parts` slices of equal size. Throws Error if the axis cannot be divided equally.
std::vector<Symbol> split(Symbol x, std::int64_t parts, const Axis& axis = {});

}  // namespace convoke::nn
