#pragma once
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "convoke/core/shape.hpp"
#include "convoke/os/file.hpp"

namespace convoke::interop {

/// The types of numbers in files of other programs.
enum class NumberType {
  kFloat32,
  kFloat16,
  kBfloat16,
  kFloat64,
  kUint8,
  kInt8,
  kUint16,
  kInt16,
  kInt32,
  kUint32,
  kInt64,
  kUint64,
  kBool
};

/// The names of a type in files, and the bytes of one number.
struct NumberTypeFacts {
  NumberType type;
  std::string_view name;         ///< ours, and TensorFlow's
  std::string_view safetensors;  ///< its dtype
  std::int64_t onnx;             ///< its TensorProto.DataType
  std::size_t size;
};
inline constexpr std::array kNumberTypes{NumberTypeFacts{NumberType::kFloat32, "float32", "F32", 1, 4},
                                         NumberTypeFacts{NumberType::kFloat16, "float16", "F16", 10, 2},
                                         NumberTypeFacts{NumberType::kBfloat16, "bfloat16", "BF16", 16, 2},
                                         NumberTypeFacts{NumberType::kFloat64, "float64", "F64", 11, 8},
                                         NumberTypeFacts{NumberType::kUint8, "uint8", "U8", 2, 1},
                                         NumberTypeFacts{NumberType::kInt8, "int8", "I8", 3, 1},
                                         NumberTypeFacts{NumberType::kUint16, "uint16", "U16", 4, 2},
                                         NumberTypeFacts{NumberType::kInt16, "int16", "I16", 5, 2},
                                         NumberTypeFacts{NumberType::kInt32, "int32", "I32", 6, 4},
                                         NumberTypeFacts{NumberType::kUint32, "uint32", "U32", 12, 4},
                                         NumberTypeFacts{NumberType::kInt64, "int64", "I64", 7, 8},
                                         NumberTypeFacts{NumberType::kUint64, "uint64", "U64", 13, 8},
                                         NumberTypeFacts{NumberType::kBool, "bool", "BOOL", 9, 1}};

/// Returns the type that a file calls `name`, in a column of the table; none if there is no such type.
template <class Name>
std::optional<NumberType> number_type(Name NumberTypeFacts::*column, std::type_identity_t<Name> name) {
  const auto found = std::ranges::find(kNumberTypes, name, column);
  return found == kNumberTypes.end() ? std::nullopt : std::optional(found->type);
}

/// Returns "float16", ...
inline std::string_view name_of(NumberType type) { return kNumberTypes[static_cast<std::size_t>(type)].name; }
/// Returns the size of one number in bytes.
inline std::size_t size_of(NumberType type) { return kNumberTypes[static_cast<std::size_t>(type)].size; }

/// True for whole numbers and booleans.
inline bool is_whole(NumberType type) { return type > NumberType::kFloat64; }

/// True for a type of ONNX (TensorProto.DataType) whose numbers are no whole ones.
inline bool is_real(std::int64_t onnx) {
  const std::optional<NumberType> type = number_type(&NumberTypeFacts::onnx, onnx);
  return type && !is_whole(*type);
}

/// An array in a file: its numbers are read when they are asked for, so that a model needs the memory of its
/// weights once, and not that of the file as well.
struct Tensor {
  std::string name;
  Shape shape;
  NumberType type = NumberType::kFloat32;
  /// Copies bytes.size() bytes from `offset` within this array's shape.elements() * size_of(type).
  std::function<void(std::uint64_t offset, std::span<std::byte> bytes)> read;

  /// Returns elements() * size_of(type). Throws Error naming the tensor if that is no number of bytes.
  std::uint64_t bytes() const;
};

/// Returns shape.elements(), or none if an extent is negative or the product exceeds 2^40.
std::optional<std::int64_t> checked_elements(const Shape& shape);

/// Makes a tensor whose numbers lie in memory; `bytes` must outlive it.
Tensor tensor_in_memory(std::string name, Shape shape, NumberType type, std::span<const std::byte> bytes);
/// Makes a tensor whose numbers lie in a file at `offset`.
Tensor tensor_in_file(std::string name, Shape shape, NumberType type, std::shared_ptr<const os::File> file,
                      std::uint64_t offset);

/// Converts all numbers to fp32, in the tensor's order. `values` has shape.elements() elements.
void read_floats(const Tensor& tensor, std::span<float> values);
std::vector<float> read_floats(const Tensor& tensor);
/// Reads whole numbers; throws Error naming the tensor if its type is a floating point type.
std::vector<std::int64_t> read_integers(const Tensor& tensor);

/// Copies `values` (row-major, `shape`) with axes reordered: axis i of the result is axis axes[i] of
/// `values`.
///   out[i_0, ..., i_r] = values[at i_k on axis axes[k]]
void permute(std::span<const float> values, const Shape& shape, std::span<const std::size_t> axes,
             std::span<float> out);

/// Swaps the channels of the weight of a transposed convolution within each group. Ours is
/// (filters, C / groups, kh, kw), that of PyTorch and ONNX is (C, filters / groups, kh, kw); `shape` is one
/// of them, and the result is the other.
std::vector<float> swap_channels(std::span<const float> values, const Shape& shape, std::int64_t groups);
/// Returns the shape of that result.
Shape swapped_channels(const Shape& shape, std::int64_t groups);

}  // namespace convoke::interop
