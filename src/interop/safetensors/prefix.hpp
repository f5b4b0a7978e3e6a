#pragma once
#include <optional>
#include <string>
#include <vector>

#include "interop/safetensors/names.hpp"

namespace convoke::interop {

/// How a file names the parameters of a graph: by a naming, with a prefix in front of each name.
struct FoundNames {
  const Naming* naming = nullptr;
  std::string prefix;  ///< "module.", "backbone."; often empty
};

/// Finds the naming and the prefix by which most parameters are among the file's `names`. Weights that were
/// saved from a wrapper or a larger model have its name in front. `prefix`: the one to use, if it is given,
/// with or without its last dot. Throws Error naming `file` if several prefixes fit equally well, because the
/// file has several copies, or if the given one does not occur.
FoundNames find_names(const std::vector<Naming>& namings, const std::vector<std::string>& names,
                      std::optional<std::string> prefix, const std::string& file);

}  // namespace convoke::interop
