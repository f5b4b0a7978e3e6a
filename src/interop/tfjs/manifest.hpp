#pragma once
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "interop/keras/config.hpp"
#include "interop/tensor.hpp"

namespace convoke::interop::tfjs {

/// The weights that a model.json names.
struct Manifest {
  std::vector<Tensor> tensors;
  std::set<std::string> converted;  ///< types of numbers other than fp32: "uint8"
};

/// Opens the files of a "weightsManifest" beside `file`: groups of binary files, and the tensors that lie one
/// after the other in their bytes. Throws Error naming `file` for a path that leaves its folder, a type that
/// is no number, and bytes that are too few or too many.
Manifest open_manifest(const std::filesystem::path& file, const keras::Json& groups);

}  // namespace convoke::interop::tfjs
