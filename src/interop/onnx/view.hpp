#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "interop/model_builder.hpp"
#include "interop/onnx/constant.hpp"

namespace convoke::interop::onnx {

/// An ONNX value as a view of the output of one of our nodes. A sample of the node is divided into atoms, in
/// row-major order; an axis of the ONNX value is a list of atoms, of the batch, or of nothing (extent 1).
/// Transpose, Reshape, Squeeze and the like only change the view; layers that reorder numbers are added where
/// an operator needs the order. So the transposes around a convolution in a channels-last model cancel out.
struct View {
  static constexpr int kBatch = -1;  ///< stands for the batch in an axis
  static constexpr int kOne = -2;    ///< of(): an axis of extent 1

  static constexpr std::size_t kMostAxes = 16;

  using Axis = std::vector<int>;  ///< indices of atoms, the slowest first

  std::size_t node = 0;
  std::vector<std::int64_t> atoms;  ///< their extents, > 1
  std::vector<Axis> axes;

  /// Makes the view of a node in which each axis is kBatch, kOne or an axis of the node's sample.
  static View of(const nn::Graph& graph, std::size_t node, const std::vector<int>& roles);

  std::size_t rank() const { return axes.size(); }
  Dim dim(std::size_t axis) const;
  std::vector<Dim> dims() const;
  std::int64_t extent(const Axis& axis) const;  ///< without the batch
  bool has_batch(std::size_t axis) const;
  /// Returns the axis that is the batch and nothing else, if there is one.
  std::optional<std::size_t> batch_axis() const;

  View transposed(const std::vector<std::size_t>& order) const;
  /// Returns the view with the atoms of a reshape, in ONNX's row-major order. `to`: its dimensions, without
  /// -1 and 0. None if the atoms cannot be divided so.
  std::optional<View> reshaped(const std::vector<Dim>& to) const;
  /// Divides an atom into (extent / inner, inner).
  void split(std::size_t atom, std::int64_t inner);
  View with_node(std::size_t other) const;

  friend bool operator==(const View&, const View&) = default;
};

/// Returns 0, 1, ..., rank - 1.
std::vector<std::size_t> all_axes(std::size_t rank);
/// Returns the atoms of these ONNX axes, without the batch.
View::Axis atoms_of(const View& view, const std::vector<std::size_t>& axes);

/// True if the node of the view already has these groups of atoms as its axes.
bool is_arranged(const ModelBuilder& builder, const View& view, const std::vector<View::Axis>& groups);

/// Returns a node with one axis for each group of atoms (at most three), which adds reshape, permute, flatten
/// or channel_shuffle layers where needed. Each atom is in exactly one group.
std::size_t arrange(ModelBuilder& builder, const View& view, const std::vector<View::Axis>& groups);

/// Returns the same value over a node that has exactly these atoms as its channels (nn::channels_of).
View with_channels(ModelBuilder& builder, const View& view, const View::Axis& channels);

/// Returns the ONNX axes in the order of a node's axes: (C, H, W) for images, (L, F) for sequences, such that
/// no layer is needed if possible. Empty if the view has more axes than a node, or an axis that mixes the
/// batch with others.
std::vector<std::size_t> natural_order(const ModelBuilder& builder, const View& view);

/// Returns the same value over a node with the ONNX axes `order` as its axes.
View arranged(ModelBuilder& builder, const View& view, const std::vector<std::size_t>& order);

/// Returns the same value over a node with these groups of atoms as its axes.
View arranged(ModelBuilder& builder, const View& view, const std::vector<View::Axis>& groups);

/// A value over a node that has one ONNX axis as an axis of its own, so that a layer can work along it.
struct Along {
  View view;
  std::vector<std::vector<std::size_t>> order;  ///< the ONNX axes of each axis of the node
  std::size_t axis = 0;                         ///< the ONNX axis
  std::size_t at = 0;                           ///< the node's axis
  std::int64_t inner = 1;                       ///< positions on the node's axis for each on the ONNX axis

  std::string_view name() const;  ///< "channels", "time", ... as layers call it
  /// Returns the view over `node`, which differs in the extent of this axis.
  View with(std::size_t node, std::int64_t extent) const;
};
Along along(ModelBuilder& builder, const View& view, std::size_t axis);
/// Arranges a value as `like`.
Along along(ModelBuilder& builder, const View& view, const Along& like);

/// Returns the view with the atoms of an ONNX value flattened to a vector, in ONNX's order.
View flattened(ModelBuilder& builder, const View& view);

}  // namespace convoke::interop::onnx
