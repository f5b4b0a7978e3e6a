#pragma once
#include "interop/onnx/call.hpp"

namespace convoke::interop::onnx {

/// A constant with all its numbers, for folding: whole numbers, or else fp32.
struct Array {
  Shape shape;
  bool whole = false;
  std::vector<Dim> numbers = {};
  std::vector<float> floats = {};

  static Array of(const Constant& constant);
  /// Throws Error if the size is absurd.
  static Array zeros(Shape shape, bool whole = false);
  Constant constant() const;

  std::int64_t size() const { return shape.elements(); }
  /// Writes a part, whose numbers are of the same kind, from the place `first` of an axis on. Along other
  /// axes both have the same extents.
  void put(const Array& part, std::size_t axis, std::int64_t first);
  /// Returns the elements at these indices, with another shape.
  Array picked(Shape to, const std::vector<std::size_t>& indices) const;
  /// Returns all numbers as fp32; NaN for those that depend on the batch.
  Array as_floats() const;
  /// Returns all numbers rounded towards zero.
  Array as_whole() const;
};

/// Returns the shape to which both are broadcast. Throws Error if they do not fit, or if it is absurdly
/// large.
Shape broadcast(const Shape& a, const Shape& b);
/// Returns the index in an array of shape `from` of each element of its broadcast to `to`.
std::vector<std::size_t> broadcast_indices(const Shape& from, const Shape& to);
/// Returns the shape with another extent of one axis.
Shape with_extent(const Shape& shape, std::size_t axis, std::int64_t extent);
/// Returns the elements at these indices of an axis.
Array taken(const Array& from, std::size_t axis, const std::vector<std::int64_t>& indices);
/// Throws Error if folding would make an array of absurd size.
void check_size(const Shape& shape);

/// Computes a node all of whose inputs are constants: shape arithmetic, and what exporters leave of weights.
/// Returns false if Convoke does not compute its operator. Throws Error if the inputs do not fit it.
bool fold(Call& call);

/// The same for QuantizeLinear and DequantizeLinear.
bool fold_quantized(Call& call);

/// Returns an array as a constant, and counts its numbers.
Constant counted(Call& call, const Array& array);
/// Gives the output of a node.
void give_array(Call& call, const Array& array);
/// Returns an input as numbers.
Array array_of(Call& call, std::size_t input = 0);
/// Returns x op y, broadcast, for the name of an operator: "Sub".
Array combined(std::string_view op, const Array& x, const Array& y);
/// Returns the axes over which a node reduces a value of that rank: by default all of them.
std::vector<std::size_t> reduced_axes(const Call& call, std::size_t rank);

}  // namespace convoke::interop::onnx
