#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "convoke/core/shape.hpp"
#include "convoke/run/initial_weights.hpp"
#include "convoke/run/model_file.hpp"

// Models of other programs, in and out. A run::ModelSet stands between all formats: each format is a folder
// that converts its files to and from this one form.

namespace convoke::interop {

struct ImportOptions {
  Shape input = {};         ///< one sample, for a file that leaves its input open; empty: the file's own
  std::string output = {};  ///< the output to take of a file with several, by name; empty: the first
};

/// A model that was read from a file.
struct Imported {
  run::ModelSet models;
  std::vector<std::string> notes = {};  ///< sentences: what was converted, folded or left out
  bool raw_input = false;               ///< its first layers normalize stored samples
  bool raw_input_stated = false;        ///< its file says so; otherwise they look like it
  /// A sentence if the file does not say how pictures are normalized, so that a normalization is assumed. It
  /// is for those who do not choose another one.
  std::string normalization_note = {};
  /// A sentence about what the outputs of a file of another program are: "outputs: probabilities (the network
  /// ends in softmax)".
  std::string outputs_note = {};
};

/// Returns what outputs can be, for --outputs: "logits" (softmax follows; with one output sigmoid),
/// "probabilities", "score-logits" (sigmoid follows), "scores" (independent, from 0 to 1) and "values".
std::vector<std::string> output_kinds();

/// Sets what the outputs of a model are, whatever its file says; an empty `kind` changes nothing. Throws
/// Error for another name.
void declare_outputs(Imported& imported, const std::string& kind);

struct ExportOptions {
  /// The first nodes normalize, so that the file takes samples as the dataset has them (pixels of 0..255).
  bool raw_input = false;
  /// An ONNX file with more bytes is divided: its weights go to FILE.data beside it. Protocol buffers hold at
  /// most 2 GiB.
  std::uint64_t most_onnx_bytes = (std::uint64_t{1} << 31) - 1;
};

/// Reads a model file of any format: Convoke's own, or one of formats(). The contents decide, not the name.
/// Throws Error naming the file, and the node that cannot be converted.
Imported read_model(const std::filesystem::path& file, const ImportOptions& options = {});

/// True if `file` is a file (not a folder) that read_model() or read_weights() would read, by its beginning,
/// or refuse with the name of its format.
bool is_model(const std::filesystem::path& file);

/// Returns the file that read_model() reads: of a run folder, the model in it. Throws Error that names what
/// is there instead.
std::filesystem::path find_model(const std::filesystem::path& file_or_run);

struct WeightOptions {
  /// The published network that the graph is, or empty; files of torchvision, timm and Keras have their own
  /// names for its parameters.
  std::string zoo = {};
  /// The text before the names in a file of PyTorch, "module."; by default what fits most parameters.
  std::optional<std::string> prefix = {};
  bool partial = false;  ///< weights in the file that the graph lacks are left out; else they are an Error
};

/// Takes from `file`, of any format, the weights that fit `graph` in name and shape. Throws Error naming the
/// file if none fits, if it has several copies, or, unless `partial`, weights that the graph lacks.
run::InitialWeights read_weights(const std::filesystem::path& file, const nn::Graph& graph,
                                 const WeightOptions& options = {});

/// Writes `models` in the format of that name. Returns the written files: `file`, and perhaps one beside it.
/// Throws Error naming the file or the node that the format cannot express, and with the nearest name for an
/// unknown format; `file` is then unchanged.
std::vector<std::filesystem::path> write_model(const std::filesystem::path& file, const run::ModelSet& models,
                                               const std::string& format, const ExportOptions& options = {});

/// A format for messages and help.
struct FormatHelp {
  std::string name;       ///< as --format takes it: "onnx"
  std::string extension;  ///< of a file that is written: ".onnx"
  std::string help;       ///< a phrase
  bool reads_graph = false, reads_weights = false, writes = false;
  bool normalizes = false;  ///< for ExportOptions::raw_input
};
std::vector<FormatHelp> formats();

/// Returns the operators and layers that are read and written, as the Markdown of docs/interop-layers.md.
std::string layer_reference();

}  // namespace convoke::interop
