#pragma once
#include <initializer_list>
#include <string_view>
#include <variant>
#include <vector>

#include "interop/onnx/call.hpp"

// How operators become layers: families of operators, each with a file, and the functions that they share.

namespace convoke::interop::onnx {

extern const std::initializer_list<Operator> kActivationOperators;
extern const std::initializer_list<Operator> kArithmeticOperators;
extern const std::initializer_list<Operator> kDenseOperators;
extern const std::initializer_list<Operator> kNormalizationOperators;
extern const std::initializer_list<Operator> kPartsOperators;
extern const std::initializer_list<Operator> kQuantizedOperators;
extern const std::initializer_list<Operator> kResizeOperators;
extern const std::initializer_list<Operator> kSequenceOperators;
extern const std::initializer_list<Operator> kStructureOperators;
extern const std::initializer_list<Operator> kWindowOperators;

/// A layer of the table of plain layers, and a function of the table of element functions.
void convert_plain(Call& call);
void convert_function(Call& call);
// Operators that only patterns give.
void convert_normalize(Call& call);
void convert_recognized_activation(Call& call);
void convert_spelled_attention(Call& call);
void convert_strided(Call& call);

/// The hint of errors about models that compute with quantized numbers.
constexpr std::string_view kBeforeQuantized =
    "export the model before it is quantized, or quantize it in the QDQ form: "
    "quantize_static(..., quant_format=QuantFormat.QDQ)";

/// True if a value of the file holds booleans: a comparison, or what only moves its numbers.
bool is_boolean(const Source& source, const std::string& value);
/// Returns 1 where `x` is not 0, and 0 elsewhere.
View boolean_of(Call& call, const View& x);
/// Multiplies each element along the ONNX axes of `constant` (broadcast to `view`), or adds it: a trained
/// layer with one parameter for each element, or, before the first layer with weights, a fixed one.
View scaled_by(Call& call, const View& view, const Constant& constant);
View shifted_by(Call& call, const View& view, const Constant& constant);
/// Adds a layer without settings, "add", "subtract" and others, of values that are broadcast to one shape.
View merged(Call& call, std::string_view layer, const std::vector<View>& views);
/// An operand of a function of our elementwise layer: a value, or a number.
using Operand = std::variant<View, double>;
/// Returns the result of a function, "minimum" and others, of operands that are broadcast to one shape.
View computed(Call& call, std::string_view function, const std::vector<Operand>& operands);
/// Returns scale x + offset.
View rescaled(Call& call, const View& view, double scale, double offset);
/// Returns the mean ("global_average_pool") or the maximum ("global_max_pool") over some axes, which `keep`
/// leaves with the extent 1.
View reduced(Call& call, const View& x, const std::vector<std::size_t>& axes, const std::string& layer,
             bool keep);
/// Returns the sum over some axes.
View reduced_sum(Call& call, const View& x, const std::vector<std::size_t>& axes, bool keep);
/// Returns the indices first .. first + size - 1 along an axis.
View sliced(Call& call, const View& view, std::size_t axis, std::int64_t first, std::int64_t size);
/// Returns the value at these indices of an axis, counted from the end if below 0; neighbors are one slice.
Known picked(Call& call, const Known& value, std::size_t axis, std::vector<std::int64_t> indices);
/// Adds zeroes before and after some axes; both axes of an image at once.
View zero_padded(Call& call, View x, std::vector<std::int64_t> before, std::vector<std::int64_t> after);
/// Returns `parts` joined along an axis.
View joined(Call& call, const std::vector<View>& parts, std::size_t axis);
/// Returns a view with these dimensions, one of which may be -1. 0 is refused.
View reshaped(Call& call, const View& view, std::vector<Dim> to);
/// Gives a value with these dimensions as the node's output.
void give_reshaped(Call& call, const Known& value, std::vector<Dim> to);

// arithmetic.cpp: brings the operands of element-wise operators to one shape, as NumPy.

/// Returns the view with axes of extent 1 in front, up to `rank`.
View with_rank(const View& view, std::size_t rank);
/// Returns the view with all axes of extent 1 of `to` repeated.
View repeated(Call& call, const View& view, const std::vector<Dim>& to);
/// Brings views to one shape.
std::vector<View> broadcast_all(Call& call, std::vector<View> views);

/// The elements of a constant that is broadcast to a view, along the axes in which they differ.
struct Spread {
  View view;  ///< has a channel for each element
  Constant constant;
};

Spread spread(Call& call, const View& view, const Constant& constant);

/// Values of one shape over nodes of one shape.
struct Aligned {
  std::vector<std::size_t> nodes;
  View view;  ///< of a node with the same axes
};
Aligned aligned(Call& call, const std::vector<View>& views);

// fold.cpp: constants that follow from others.

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
