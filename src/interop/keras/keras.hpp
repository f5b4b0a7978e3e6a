#pragma once
#include <filesystem>
#include <string>

#include "interop/format.hpp"

namespace convoke::interop::keras {

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

}  // namespace convoke::interop::keras
