#include "convoke/recipe/recipe.hpp"

#include "support/catch.hpp"
#include "support/files.hpp"
#include "support/source_path.hpp"

using namespace convoke;
using recipe::Recipe;

namespace {

// Returns the part of docs/recipes.md below its mark.
std::string documented_keys() {
  const std::string text = bytes_of(source_path("docs/recipes.md"));
  const std::string mark = "<!-- printed by: convoke info --recipe-keys -->\n\n";
  const std::size_t at = text.find(mark);
  return at == std::string::npos ? "" : text.substr(at + mark.size());
}

// Returns the path, e.g. "train.epochs", of every key that a resolved recipe writes.
void add_paths(const Settings& settings, const std::string& prefix, std::vector<std::string>& paths) {
  for (const auto& [key, value] : settings.entries()) {
    if (const Settings* table = value.table(); table != nullptr && prefix.empty()) {
      add_paths(*table, key + ".", paths);
    } else {
      paths.push_back(prefix + key);
    }
  }
}

}  // namespace

TEST_CASE("docs/recipes.md matches the key reference that the program prints") {
  INFO("to update it, replace the part below the mark by the output of `convoke info --recipe-keys`");
  CHECK(documented_keys() == recipe::key_reference());
}

TEST_CASE("every key of a resolved recipe is documented, with a type and a meaning") {
  const std::string reference = recipe::key_reference();
  const Recipe recipe = Recipe::parse(R"([data]
path = "x.h5"
[model]
input = [1, 8, 8]
layers = [{ layer = "flatten" }, { layer = "dense", units = 3 }]
)",
                                      "r.toml");
  std::vector<std::string> paths;
  add_paths(recipe.settings(), "", paths);
  CHECK(paths.size() > 60);
  for (const std::string& path : paths) {
    const std::size_t dot = path.find('.');
    const std::string section =
        dot == std::string::npos ? "## At the top\n" : "## `[" + path.substr(0, dot) + "]`\n";
    const std::size_t begin = reference.find(section);
    REQUIRE(begin != std::string::npos);
    const std::size_t row = reference.find("\n| `" + path.substr(dot + 1) + "` | ", begin);
    CAPTURE(path);
    CHECK(row < reference.find("\n## ", begin + section.size()));
    CHECK(reference.substr(row, reference.find('\n', row + 1) - row).ends_with(" |  |") == false);
  }
}

TEST_CASE("the page lists nested tables, their defaults, ranges and whether a resumed run may change them") {
  const std::string reference = recipe::key_reference();
  for (const char* line : {"| `adam` | `beta_1` | number | `0.9` | at least 0 and below 1 | yes | decay of "
                           "the running mean of gradients |",
                           "| all | `learning_rate` | number | `0.001` | above 0 | yes | base rate, "
                           "which the schedule multiplies |",
                           "| `constant` | | | | | | |", "### `train.stages`"}) {
    CAPTURE(line);
    CHECK_THAT(reference, Contains(line));
  }
  CHECK(reference.find(
            "| `threads` | whole number | `\"auto\"` | \"auto\" or a whole number of 1 to 4096 |  | ") !=
        std::string::npos);
}
