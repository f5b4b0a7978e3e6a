#pragma once
#include <filesystem>

#include "convoke/interop/model_io.hpp"

namespace convoke::interop::keras_export {

/// Write a model as a compiled Functional model of Keras with the data format channels_last: our (C, H, W) is
/// (H, W, C) there, the weights are transposed, and a Permute stands where the order of elements matters.
/// Layers have the names of our nodes; what Keras lacks is composed of its layers, whose names begin with the
/// node's. As in Keras, the output is what the network computes: the loss of a model without softmax or
/// sigmoid at its end has from_logits = true. An ensemble is one model: the mean of its members'
/// probabilities. With ExportOptions::raw_input, a Rescaling or Normalization comes first.
/// Throws Error naming the node for a layer that Keras cannot express; --format onnx can.

/// Writes a .keras file, for Keras 3. Class names and normalization are in its metadata.json, which Keras
/// does not read.
std::vector<std::filesystem::path> write_keras(const std::filesystem::path& file, const run::ModelSet& models,
                                               const ExportOptions& options);
/// Writes an .h5 file, for Keras 2 and 3. Class names and normalization are attributes of the file.
std::vector<std::filesystem::path> write_keras_h5(const std::filesystem::path& file,
                                                  const run::ModelSet& models, const ExportOptions& options);

}  // namespace convoke::interop::keras_export
