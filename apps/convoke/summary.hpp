#pragma once
#include <CLI/CLI.hpp>

#include "recipe_options.hpp"

namespace convoke::app {

struct SummaryOptions : RecipeOptions {
  bool plan = false;  ///< also the primitives of a training step
  bool json = false;  ///< instead, the network's sizes
  bool toml = false;  ///< instead, the recipe with every default written out
};

void add_summary(CLI::App& parser, SummaryOptions& options);
int summary(const SummaryOptions& options);

}  // namespace convoke::app
