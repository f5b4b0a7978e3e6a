#include "convoke/recipe/library.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <set>
#include <system_error>

#include "convoke/core/error.hpp"
#include "convoke/core/text.hpp"

namespace convoke::recipe {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFileName = "recipe.toml";

// Folders with a folder per recipe: of an installation, of the source tree (the binary is in build/<preset>),
// and the user's own.
std::vector<fs::path> libraries() {
  std::vector<fs::path> folders;
  std::error_code unknown;
  if (const fs::path binary = fs::read_symlink("/proc/self/exe", unknown); !unknown) {
    folders.push_back(binary.parent_path().parent_path() / "share/convoke/recipes");
    folders.push_back(binary.parent_path().parent_path().parent_path() / "apps/recipes");
  }
  if (const char* own = std::getenv("CONVOKE_RECIPES"); own != nullptr && *own != '\0')
    folders.emplace_back(own);
  return folders;
}

bool is_file(const fs::path& path) {
  std::error_code unreadable;
  return fs::is_regular_file(path, unreadable);
}

}  // namespace

fs::path find_recipe(const std::string& recipe) {
  std::error_code unreadable;
  if (is_file(recipe)) return recipe;
  const fs::path in_folder = fs::path(recipe) / kFileName;
  if (is_file(in_folder)) return in_folder;
  if (recipe.find('/') == std::string::npos && !recipe.empty()) {
    for (const fs::path& library : libraries()) {
      if (const fs::path file = library / recipe / kFileName; is_file(file)) return file;
    }
  }
  const std::vector<std::string> known = recipe_names();
  const std::string hint =
      known.empty() ? "give the path of a recipe.toml, or set CONVOKE_RECIPES to a folder of recipes"
                    : fmt::format("known: {}; or the path of a recipe.toml", join(known));
  if (fs::is_directory(recipe, unreadable)) {
    throw Error(fmt::format("the folder \"{}\" holds no {}", recipe, kFileName), hint);
  }
  throw Error(fmt::format("unknown recipe \"{}\"{}", recipe, did_you_mean(recipe, known)), hint);
}

std::vector<std::string> recipe_names() {
  std::set<std::string> names;
  for (const fs::path& library : libraries()) {
    std::error_code missing;
    for (const auto& entry : fs::directory_iterator(library, missing)) {
      if (is_file(entry.path() / kFileName)) names.insert(entry.path().filename());
    }
  }
  return {names.begin(), names.end()};
}

}  // namespace convoke::recipe
