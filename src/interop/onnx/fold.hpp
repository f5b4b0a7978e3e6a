#pragma once
#include "interop/onnx/array.hpp"
#include "interop/onnx/call.hpp"

namespace convoke::interop::onnx {

/// Computes a node all of whose inputs are constants: shape arithmetic, and what exporters leave of weights.
/// Returns false if Convoke does not compute its operator. Throws Error if the inputs do not fit it.
bool fold(Call& call);

// Its parts: each computes the operators of one kind, and returns false for others.

/// Add, Less, Sqrt, Where, ...: element by element.
bool fold_elementwise(Call& call);
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

/// Returns the entry of a table with the name of the node's operator, or null.
template <class Table>
const auto* entry_for(const Call& call, const Table& table) {
  for (const auto& entry : table) {
    if (entry.name == call.node().op) return &entry;
  }
  return static_cast<decltype(table.data())>(nullptr);
}

}  // namespace convoke::interop::onnx
