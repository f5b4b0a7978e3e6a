#pragma once
#include <filesystem>
#include <string>
#include <vector>

namespace convoke::recipe {

/// The recipe.toml that `recipe` means: a file, a folder that holds one, or the name of a recipe that comes
/// with Convoke (see recipes_beside) or is in the folder $CONVOKE_RECIPES. Throws Error with the nearest
/// name, listing the known ones.
std::filesystem::path find_recipe(const std::string& recipe);

/// The names of all recipes that are known by name, sorted.
std::vector<std::string> recipe_names();

/// The folder of the recipes that belong to the program `binary` (an absolute path): in share/convoke of its
/// installation or build folder, or in the source tree around it. The nearest one; empty if there is none.
std::filesystem::path recipes_beside(const std::filesystem::path& binary);

}  // namespace convoke::recipe
