#pragma once
#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace convoke::app {

/// Which recipe, and what to change in it: the arguments that every command with a recipe has.
struct RecipeOptions {
  std::string recipe;
  std::vector<std::string> changes;
};

void add_recipe_options(CLI::App& parser, RecipeOptions& options);

}  // namespace convoke::app
