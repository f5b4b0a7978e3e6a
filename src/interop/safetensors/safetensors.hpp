#pragma once
#include "interop/format.hpp"

// Hugging Face's safetensors: a length (uint64), a JSON table of names, types, shapes and places, then the
// numbers. https://github.com/huggingface/safetensors#format

namespace convoke::interop {

bool is_safetensors(const Probe& probe);

/// Returns the tensors of a file. Throws Error naming the file if its table is damaged, or tensors overlap or
/// lie outside the file.
std::vector<Tensor> read_safetensors(const std::filesystem::path& file);

/// Takes the weights whose names fit `graph` (src/interop/safetensors/names.hpp).
run::InitialWeights read_safetensors_weights(const std::filesystem::path& file, const nn::Graph& graph,
                                             const WeightOptions& options);

/// Writes the weights of a model under torchvision's or timm's names if it is one of their networks, else
/// under the names of its nodes. Throws Error for an ensemble, whose members go to a file each.
std::vector<std::filesystem::path> write_safetensors(const std::filesystem::path& file,
                                                     const run::ModelSet& models,
                                                     const ExportOptions& options);

}  // namespace convoke::interop
