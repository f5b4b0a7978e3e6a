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

/// Makes a constant of a tensor of the file. `folder`: of the model file, for external data. Throws Error
/// naming the tensor if its type, size or place is refused.
Constant make_constant(const TensorProto& tensor, const std::filesystem::path& folder);

}  // namespace convoke::interop::onnx
