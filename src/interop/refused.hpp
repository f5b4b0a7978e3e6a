#pragma once
#include "interop/format.hpp"

namespace convoke::interop {

/// True for files that Convoke does not read because reading them runs code, or because another format of the
/// same program says more: pickles of PyTorch, SavedModels and TensorFlow Lite.
bool is_refused(const Probe& probe);

/// Throws Error that says how to convert the file.
Imported refuse(const std::filesystem::path& file, const ImportOptions& options);

}  // namespace convoke::interop
