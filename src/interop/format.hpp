#pragma once
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "convoke/interop/model_io.hpp"
#include "interop/tensor.hpp"

namespace convoke::interop {

/// The beginning of a file, by which formats recognize theirs.
struct Probe {
  std::filesystem::path file;
  std::string beginning;  ///< the first bytes, up to 512
};

/// Reads the beginning of `file`; nothing of a folder. Throws Error if there is no such file.
Probe probe_of(const std::filesystem::path& file);

/// A file format. To add one, write a folder with these functions and add one line to
/// src/interop/formats.cpp.
struct Format {
  std::string_view name;
  std::string_view extension;
  std::string_view help;
  bool (*recognizes)(const Probe& probe);
  /// Reads a graph with its weights. Null: the format holds none.
  Imported (*read)(const std::filesystem::path& file, const ImportOptions& options) = nullptr;
  /// Takes the weights that fit `graph`, as interop::read_weights(). Null: as those of the model that `read`
  /// returns.
  run::InitialWeights (*read_weights)(const std::filesystem::path& file, const nn::Graph& graph,
                                      const WeightOptions& options) = nullptr;
  /// Writes a model and returns the written files. Null: the format is only read.
  std::vector<std::filesystem::path> (*write)(const std::filesystem::path& file, const run::ModelSet& models,
                                              const ExportOptions& options) = nullptr;
  bool normalizes = false;  ///< a written file can normalize in its first layers (ExportOptions::raw_input)
};

/// True for a file of another program that Convoke recognizes, by its contents, and does not read: programs,
/// pickles, which can run any program, and what is no model at all.
bool is_refused(const Probe& probe);
/// Throws Error that names the file, what it is, and the commands that convert it, if is_refused().
void require_not_refused(const Probe& probe);

// The functions of the formats.

/// True if the file is an ONNX model.
bool is_onnx(const Probe& probe);

/// Reads an ONNX model of opset 7 to 28 as layers with trainable weights. The size of the batch in the file
/// does not matter. Open sizes of the input come from options.input, (C, H, W) for images. Throws Error
/// naming the file and the node that Convoke cannot convert.
Imported read_onnx(const std::filesystem::path& file, const ImportOptions& options);

// Hugging Face's safetensors: a length (uint64), a JSON table of names, types, shapes and places, then the
// numbers. https://github.com/huggingface/safetensors#format

bool is_safetensors(const Probe& probe);

/// Takes the weights whose names fit `graph` (src/interop/safetensors/names.hpp).
run::InitialWeights read_safetensors_weights(const std::filesystem::path& file, const nn::Graph& graph,
                                             const WeightOptions& options);

/// Writes the weights of a model under torchvision's or timm's names if it is one of their networks, else
/// under the names of its nodes. Throws Error for an ensemble, whose members go to a file each.
std::vector<std::filesystem::path> write_safetensors(const std::filesystem::path& file,
                                                     const run::ModelSet& models,
                                                     const ExportOptions& options);

namespace keras {

/// Keras' own file, .keras: a zip file of Keras 3, or of Keras 2.12 and later.
bool is_keras(const Probe& probe);
Imported read_keras(const std::filesystem::path& file, const ImportOptions& options);
run::InitialWeights read_keras_weights(const std::filesystem::path& file, const nn::Graph& graph,
                                       const WeightOptions& options);

/// A whole model in HDF5, .h5: the attribute model_config and the group model_weights.
bool is_h5(const Probe& probe);
Imported read_h5(const std::filesystem::path& file, const ImportOptions& options);

/// Weights alone: .weights.h5 of Keras 3, and .h5 of Keras 1 and 2.
bool is_h5_weights(const Probe& probe);
/// Reads the weights of both kinds of HDF5 files.
run::InitialWeights read_h5_weights(const std::filesystem::path& file, const nn::Graph& graph,
                                    const WeightOptions& options);

}  // namespace keras

namespace tfjs {

/// TensorFlow.js: model.json and its binary files of weights beside it.
bool is_tfjs(const Probe& probe);
/// Reads a layers-model. Throws Error for a graph-model, with what to do, and for a path that leaves the
/// folder.
Imported read_tfjs(const std::filesystem::path& file, const ImportOptions& options);
run::InitialWeights read_tfjs_weights(const std::filesystem::path& file, const nn::Graph& graph,
                                      const WeightOptions& options);

}  // namespace tfjs

namespace keras_export {

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

}  // namespace keras_export

namespace onnx_export {

/// Writes a model as ONNX. The input is called "input" (batch, and then the axes of one sample), the output
/// "output". As in PyTorch, the output is what the network computes: probabilities if it ends with softmax or
/// sigmoid, and logits otherwise; the metadata "output" says which. An ensemble is one graph: its members
/// side by side, and the mean of their probabilities. Parameters are named "<node>.weight" and so on, as in a
/// state dict of PyTorch, except for the recurrent layers' W, R and B, whose gates are in ONNX's order.
/// Metadata: class_names, normalization_scale, normalization_shift (JSON lists), input ("normalized" or
/// "raw"), convoke_version, output ("logits", "probabilities" or "values") and, unless it is softmax
/// cross-entropy, loss (JSON). A file that would exceed ExportOptions::most_onnx_bytes has its weights in
/// FILE.data beside it. Returns the files.
std::vector<std::filesystem::path> write_onnx(const std::filesystem::path& file, const run::ModelSet& models,
                                              const ExportOptions& options);

}  // namespace onnx_export

}  // namespace convoke::interop
