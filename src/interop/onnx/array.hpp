#pragma once
#include "interop/onnx/constant.hpp"

namespace convoke::interop::onnx {

/// A constant with all its numbers, for folding: whole numbers, or else fp32.
struct Array {
  Shape shape;
  bool whole = false;
  std::vector<Dim> numbers;
  std::vector<float> floats;

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

}  // namespace convoke::interop::onnx
