#pragma once
#include "interop/onnx/array.hpp"
#include "interop/onnx/call.hpp"

// The parts of fold(): each computes the operators of one kind. They return false for other operators.

namespace convoke::interop::onnx {

/// Add, Less, Sqrt, Where, ...: element by element.
bool fold_elementwise(Call& call);
/// ReduceSum, ReduceMean, ...
bool fold_reduction(Call& call);
/// Gather, Concat: parts of constants.
bool fold_parts(Call& call);
/// Expand, ConstantOfShape, Range: constants that are made.
bool fold_made(Call& call);
/// QuantizeLinear, DequantizeLinear.
bool fold_quantized(Call& call);

/// Returns an array as a constant, and counts its numbers.
Constant counted(Call& call, const Array& array);
/// Gives the output of a node.
void give_array(Call& call, const Array& array);
/// Returns an input as numbers.
Array array_of(Call& call, std::size_t input = 0);
/// Returns a b. Throws Error if both are multiples of the batch, or if the product has more than 64 bits.
Dim multiply(Dim a, Dim b);
/// Returns x op y, broadcast, for the name of an operator: "Sub".
Array combined(std::string_view op, const Array& x, const Array& y);
/// Returns the axes over which a node reduces a value of that rank: by default all of them.
std::vector<std::size_t> reduced_axes(const Call& call, std::size_t rank);
/// Returns the elements at these indices of an axis.
Array taken(const Array& from, std::size_t axis, const std::vector<std::int64_t>& indices);
/// Returns the shape with another extent of one axis.
Shape with_extent(const Shape& shape, std::size_t axis, std::int64_t extent);

/// Returns the entry of a table with the name of the node's operator, or null.
template <class Table>
const auto* entry_for(const Call& call, const Table& table) {
  for (const auto& entry : table) {
    if (entry.name == call.node().op) return &entry;
  }
  return static_cast<decltype(table.data())>(nullptr);
}

}  // namespace convoke::interop::onnx
