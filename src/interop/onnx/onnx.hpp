#pragma once
#include <filesystem>

#include "interop/format.hpp"

namespace convoke::interop {

/// True if the file is an ONNX model.
bool is_onnx(const Probe& probe);

/// Reads an ONNX model of opset 7 to 28 as layers with trainable weights. The size of the batch in the file
/// does not matter. Open sizes of the input come from options.input, (C, H, W) for images. Throws Error
/// naming the file and the node that Convoke cannot convert.
Imported read_onnx(const std::filesystem::path& file, const ImportOptions& options);

}  // namespace convoke::interop
