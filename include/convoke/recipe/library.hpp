#pragma once
#include <filesystem>
#include <string>
#include <vector>

namespace convoke::recipe {

/// The recipe.toml that `recipe` means: a file, a folder that holds one, or the name of a recipe that comes
/// with Convoke (beside the installed binary, in the source tree of a build, or in a folder of
/// $CONVOKE_RECIPES). Throws Error with the nearest name, listing the known ones.
std::filesystem::path find_recipe(const std::string& recipe);

/// The names of the recipes that come with Convoke, sorted.
std::vector<std::string> recipe_names();

}  // namespace convoke::recipe
