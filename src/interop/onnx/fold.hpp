#pragma once
#include "interop/onnx/call.hpp"

namespace convoke::interop::onnx {

/// Computes a node all of whose inputs are constants: shape arithmetic, and what exporters leave of weights.
/// Returns false if Convoke does not compute its operator. Throws Error if the inputs do not fit it.
bool fold(Call& call);

}  // namespace convoke::interop::onnx
