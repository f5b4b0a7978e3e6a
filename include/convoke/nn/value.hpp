#pragma once
#include <string>

#include "convoke/core/shape.hpp"

namespace convoke::nn {

/// The type of a value's elements. Numbers are stored as fp32 or bf16, depending on the plan's precision;
/// tokens are int32.
enum class ValueType { kReal, kToken };

/// The shape and type of a value between layers, for one sample: images (C, H, W), sequences (L, F) and
/// features (F) of numbers, or tokens (L). Only a network's input can be tokens.
struct ValueSpec : Shape {
  ValueType type = ValueType::kReal;

  ValueSpec() = default;
  ValueSpec(Shape shape, ValueType t = ValueType::kReal) : Shape(std::move(shape)), type(t) {}  // NOLINT
  ValueSpec(std::initializer_list<std::int64_t> extents) : Shape(extents) {}

  /// "(N, 300) of tokens", "(N, 3, 224, 224)".
  std::string describe() const { return with_batch() + (type == ValueType::kToken ? " of tokens" : ""); }
};

/// Returns the channels of an image, or the features of a sequence or vector.
inline std::int64_t channels_of(const Shape& value) { return value.rank() == 2 ? value[1] : value[0]; }

/// Returns tokens (L) as an input: `Graph graph(tokens(300))`.
inline ValueSpec tokens(std::int64_t length) { return {Shape{length}, ValueType::kToken}; }

}  // namespace convoke::nn
