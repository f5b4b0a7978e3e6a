#pragma once
#include "interop/onnx/source.hpp"

namespace convoke::interop::onnx {

/// The domain of operators that stand for several nodes.
inline constexpr const char* kRecognisedDomain = "convoke";

/// Recognises operators that exporters spell out, x * Sigmoid(x) or the eight nodes of a layer normalisation,
/// and puts one node in the place of the last of their nodes.
void recognise_patterns(Source& source);

}  // namespace convoke::interop::onnx
