#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "convoke/core/shape.hpp"
#include "interop/onnx/model_proto.hpp"
#include "interop/tensor.hpp"

namespace convoke::interop::onnx {

/// A whole number of shape arithmetic: `value`, or `value` times the batch.
struct Dim {
  std::int64_t value = 0;
  bool batch = false;

  friend bool operator==(const Dim&, const Dim&) = default;
};

/// Returns "(N, 3, 224, 224)".
std::string to_string(const std::vector<Dim>& dims);
/// True if the numbers are 0, 1, 2, ...
bool counts_up(std::span<const Dim> numbers);
/// Returns the dimensions to which both are broadcast, as NumPy. Throws Error if they do not fit.
std::vector<Dim> broadcast(const std::vector<Dim>& a, const std::vector<Dim>& b);

/// An array that does not depend on the sample: an initializer, or what follows from initializers and shapes.
/// Its numbers are computed when they are asked for. An array that is the same for all samples of a batch has
/// the extent 1 along the batch, since it is broadcast.
struct Constant {
  std::string name;  ///< of the initializer from which it comes, or empty
  Shape shape;
  bool whole = false;        ///< whole numbers or booleans
  int transposes = 0;        ///< that lie between it and the tensor
  bool converted = false;    ///< stored in another type than float32
  std::int64_t type = 0;     ///< in which the file stores it: TensorProto.DataType
  std::vector<Dim> numbers;  ///< all of them, if whole and at most kMostNumbers
  std::function<void(std::span<float> values)> fill;

  static constexpr std::int64_t kMostNumbers = 1 << 16;

  std::vector<Dim> dims() const;
  std::vector<float> floats() const;
  /// True if numbers are known.
  bool is_numbers() const { return whole && numbers.size() == static_cast<std::size_t>(shape.elements()); }
  /// Returns the only element, if there is one that does not depend on the batch.
  std::optional<float> scalar() const;
  /// Returns the value that all elements have, if they have one. Reads them all.
  std::optional<float> uniform() const;

  static Constant of_floats(Shape shape, std::vector<float> values);
  static Constant of_numbers(Shape shape, std::vector<Dim> numbers);
  static Constant of_list(const std::vector<std::int64_t>& numbers);

  /// The same numbers in another shape.
  Constant reshaped(Shape to) const;
  Constant transposed(const std::vector<std::size_t>& axes) const;
};

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

/// Makes a constant of a tensor of the file. `folder`: of the model file, for external data. Throws Error
/// naming the tensor if its type, size or place is refused.
Constant make_constant(const TensorProto& tensor, const std::filesystem::path& folder);

}  // namespace convoke::interop::onnx
