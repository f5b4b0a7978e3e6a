#pragma once
#include <filesystem>

#include "convoke/interop/model_io.hpp"

namespace convoke::interop::onnx_export {

/// Writes a model as ONNX. The input is called "input" (batch, and then the axes of one sample), the output
/// "output". As in PyTorch, the output is what the network computes: probabilities if it ends with softmax or
/// sigmoid, and logits otherwise; the metadata "output" says which. An ensemble is one graph: its members
/// side by side, and the mean of their probabilities. Parameters are named "<node>.weight" and so on, as in a
/// state dict of PyTorch, except for the recurrent layers' W, R and B, whose gates are in ONNX's order.
/// Metadata: class_names, normalization_scale, normalization_shift (JSON lists), convoke_version, output
/// ("logits", "probabilities" or "values") and, unless it is softmax cross-entropy, loss (JSON). A file that
/// would exceed ExportOptions::most_onnx_bytes has its weights in FILE.data beside it. Returns the files.
std::vector<std::filesystem::path> write_onnx(const std::filesystem::path& file, const run::ModelSet& models,
                                              const ExportOptions& options);

}  // namespace convoke::interop::onnx_export
