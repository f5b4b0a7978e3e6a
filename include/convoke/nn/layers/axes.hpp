#pragma once
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "convoke/core/shape.hpp"
#include "convoke/nn/layer_keys.hpp"

// Layers that work along an axis: they join, cut and reorder values.
namespace convoke::nn {

/// An axis of a value by name: "channels", "height", "width" of images; "time", "features" of sequences;
/// "features" of vectors. "channels" also stands for "features" (the last axis of Keras).
class Axis {
 public:
  Axis(std::string name = "channels") : name_(std::move(name)) {}  // NOLINT: `.axis = {"time"}`
  const std::string& name() const { return name_; }

  /// Returns its position in `shape`. Throws Error if a value of this shape does not have the axis.
  std::size_t in(const Shape& shape) const;

 private:
  std::string name_;
};

std::vector<std::string> axis_names();
void read_value(SettingsReader& read, const KeyFacts& key, Axis& value);
Value to_value(const KeyFacts& key, const Axis& value);
constexpr std::string_view type_name(const Axis*) { return "text"; }

/// The key of a layer that works along an axis.
template <class O>
constexpr Key<O> kAxis =
    key<&O::axis>({.name = "axis",
                   .names = axis_names,
                   .help = "the axis; \"time\" for sequences, \"features\" for sequences and vectors"});

struct ConcatOptions {
  Axis axis{};
};

/// Joins two or more inputs along an axis: images along their channels, (N, C1, H, W) and (N, C2, H, W) ->
/// (N, C1 + C2, H, W), or along height or width; sequences along "features" or "time"; vectors.
class Concat final : public KeyedLayer<ConcatOptions> {
 public:
  explicit Concat(ConcatOptions options = {}) : KeyedLayer(keys(), std::move(options)) {}
  std::string_view type() const override { return "concat"; }
  Shape output_shape(std::span<const ValueSpec> inputs) const override;
  LayerTraits traits() const override { return {.inputs = LayerTraits::Inputs::kSeveral}; }
  void compile(PlanBuilder& plan, const Node& node) const override;

  static Keys keys();
};

inline Symbol concat(const std::vector<Symbol>& inputs, Axis axis = {}) {
  return merge(Concat(ConcatOptions{std::move(axis)}), inputs);
}

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

struct ChannelShuffleOptions {
  std::int64_t groups = 1;  ///< divides the channels
};

/// Transposes the channels as a matrix (groups, C / groups): channel g * C / groups + i becomes i * groups +
/// g. Works on images, and on the features of vectors and sequences. X. Zhang et al., "ShuffleNet", CVPR
/// 2018.
class ChannelShuffle final : public KeyedLayer<ChannelShuffleOptions> {
 public:
  explicit ChannelShuffle(ChannelShuffleOptions options = {}) : KeyedLayer(keys(), std::move(options)) {}
  std::string_view type() const override { return "channel_shuffle"; }
  Shape output_shape(std::span<const ValueSpec> inputs) const override;
  void compile(PlanBuilder& plan, const Node& node) const override;

  static Keys keys();
};

inline Symbol channel_shuffle(Symbol x, std::int64_t groups) {
  return apply(ChannelShuffle(ChannelShuffleOptions{groups}), x);
}

}  // namespace convoke::nn
