#pragma once
#include <optional>

#include "interop/keras/call.hpp"

namespace convoke::interop::keras {

/// True for a tensor, and for an argument with the name of an operand; the others are settings.
bool is_operand(const Argument& argument);

/// Returns a number, also NumPy's: {"class_name": "__numpy__", "config": {"value": 0.4}}.
std::optional<double> number_of(const Json& constant);

/// True if `name` is that of a function of keras.ops and no layer's, or if one of the arguments is a number,
/// which layers do not take: .h5 files do not say that x + 3 is no Add layer.
bool is_operation(const std::string& name, const std::vector<Argument>& arguments);

/// Converts the call of a function of keras.ops on tensors and numbers. Throws Error for an unknown one.
Value convert_operation(const Call& call);

/// Converts an operator of Keras 2 on tensors: x + 3 is TensorFlow's function __operators__.add.
Value convert_tensorflow(const Call& call);

}  // namespace convoke::interop::keras
