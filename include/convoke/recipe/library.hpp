#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "convoke/core/error.hpp"

namespace convoke::recipe {

/// The Error of a file that does not exist on this host.
class MissingFile : public Error {
 public:
  using Error::Error;
};

/// Finds the recipe.toml for `recipe`: a file, a folder that holds one, or the name of a recipe that comes
/// with Convoke (see recipes_beside) or is in the folder $CONVOKE_RECIPES. Throws Error that suggests the
/// nearest name and lists the known ones.
std::filesystem::path find_recipe(const std::string& recipe);

/// Returns the names of all known recipes, sorted.
std::vector<std::string> recipe_names();

/// Returns the folder of the recipes that belong to the program `binary` (an absolute path): in share/convoke
/// of its installation or build folder, or in the source tree around it; the nearest one, or empty if there
/// is none.
std::filesystem::path recipes_beside(const std::filesystem::path& binary);

}  // namespace convoke::recipe
