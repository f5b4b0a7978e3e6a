#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <system_error>

#include "convoke/core/error.hpp"
#include "convoke/core/text.hpp"
#include "convoke/os/environment.hpp"
#include "convoke/recipe/recipe.hpp"

namespace convoke::recipe {
namespace {

namespace fs = std::filesystem;

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
