#pragma once
#include "interop/format.hpp"

namespace convoke::interop {

/// True for the index of a model whose tensors are divided among files, as Hugging Face writes it:
/// model.safetensors.index.json, {"weight_map": {tensor: file}}.
bool is_shard_index(const Probe& probe);

/// Returns the tensors that the index lists, from the files beside it. Throws Error naming the file if one is
/// missing, lacks a tensor, or lies elsewhere.
std::vector<Tensor> read_shards(const std::filesystem::path& index);

}  // namespace convoke::interop
