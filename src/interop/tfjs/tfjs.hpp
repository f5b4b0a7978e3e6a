#pragma once
#include <filesystem>
#include <string>

#include "interop/format.hpp"

namespace convoke::interop::tfjs {

/// TensorFlow.js: model.json and its binary files of weights beside it.
bool is_tfjs(const Probe& probe);
/// Reads a layers-model. Throws Error for a graph-model, with what to do, and for a path that leaves the
/// folder.
Imported read_tfjs(const std::filesystem::path& file, const ImportOptions& options);
run::InitialWeights read_tfjs_weights(const std::filesystem::path& file, const nn::Graph& graph,
                                      const WeightOptions& options);

}  // namespace convoke::interop::tfjs
