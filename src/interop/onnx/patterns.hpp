#pragma once
#include "interop/onnx/source.hpp"

namespace convoke::interop::onnx {

/// The domain of operators that stand for several nodes.
inline constexpr const char* kRecognizedDomain = "convoke";

/// Recognizes operators that exporters spell out, x * Sigmoid(x) or the eight nodes of a layer normalization,
/// and puts one node in the place of the last of their nodes.
void recognize_patterns(Source& source);

}  // namespace convoke::interop::onnx
