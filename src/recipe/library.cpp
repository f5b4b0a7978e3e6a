#include "convoke/recipe/library.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <system_error>

#include "convoke/core/error.hpp"
#include "convoke/core/text.hpp"
#include "convoke/nn/zoo.hpp"
#include "convoke/os/environment.hpp"
#include "convoke/recipe/recipe.hpp"

namespace convoke::recipe {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFileName = "recipe.toml";

bool is_file(const fs::path& path) {
  std::error_code unreadable;
  return fs::is_regular_file(path, unreadable);
}

// Returns the folders of recipes: those that come with Convoke, and the user's.
std::vector<fs::path> libraries() {
  std::vector<fs::path> folders;
  std::error_code unknown;
  if (const fs::path binary = fs::read_symlink("/proc/self/exe", unknown); !unknown) {
    if (const fs::path beside = recipes_beside(binary); !beside.empty()) folders.push_back(beside);
  }
  if (const auto own = os::variable("CONVOKE_RECIPES")) folders.emplace_back(*own);
  return folders;
}

void add_below(std::vector<fs::path>& places, const char* variable, const fs::path& below,
               const fs::path& path) {
  if (const auto folder = os::variable(variable)) places.push_back(fs::path(*folder) / below / path);
}

std::vector<fs::path> places_of(const Recipe& recipe) {
  const fs::path path = recipe.data.path;
  if (path.is_absolute()) return {path};
  std::vector<fs::path> places{path};
  if (!recipe.folder.empty()) places.push_back(recipe.folder / path);
  add_below(places, "CONVOKE_DATA", "", path);
  add_below(places, "XDG_CACHE_HOME", "convoke", path);
  add_below(places, "HOME", ".cache/convoke", path);
  return places;
}

}  // namespace

// An installation has recipes in share of its prefix. A build folder has a link at the same place, wherever
// it is (apps/CMakeLists.txt); a build folder in the source tree does not need the link.
fs::path recipes_beside(const fs::path& binary) {
  std::error_code missing;
  for (fs::path folder = binary.parent_path();; folder = folder.parent_path()) {
    for (const char* place : {"share/convoke/recipes", "apps/recipes"}) {
      if (fs::is_directory(folder / place, missing)) return folder / place;
    }
    if (folder == folder.parent_path()) return {};
  }
}

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
      known.empty()
          ? "pass the path of a recipe.toml, or set CONVOKE_RECIPES to a folder of recipes"
          : fmt::format(
                "known: {}; the networks of the zoo, e.g. resnet50; or pass the path of a recipe.toml",
                join(known));
  if (fs::is_directory(recipe, unreadable)) {
    throw Error(fmt::format("the folder \"{}\" has no {}", recipe, kFileName), hint);
  }
  std::vector<std::string> names = known;
  const std::vector<std::string> networks = nn::zoo_names();
  names.insert(names.end(), networks.begin(), networks.end());
  const bool is_path = recipe.find('/') != std::string::npos || recipe.ends_with(".toml");
  if (is_path) throw MissingFile(fmt::format("unknown recipe \"{}\": no such file", recipe), hint);
  throw Error(fmt::format("unknown recipe \"{}\"{}", recipe, did_you_mean(recipe, names)), hint);
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

fs::path resolve_dataset(const Recipe& recipe) {
  const std::vector<fs::path> places = places_of(recipe);
  const auto found = std::find_if(places.begin(), places.end(), [](const fs::path& place) {
    std::error_code unreadable;
    return fs::exists(place, unreadable);
  });
  if (found != places.end()) return *found;
  throw Error(fmt::format("the dataset \"{}\" of recipe \"{}\" was not found at: {}", recipe.data.path,
                          recipe.name, join(std::vector<std::string>(places.begin(), places.end()))),
              fmt::format("make it with `convoke prepare SOURCE --output {}`, or choose another with "
                          "`--set data.path=FILE`",
                          shell_word(recipe.data.path)));
}

}  // namespace convoke::recipe
