#pragma once
#include <CLI/CLI.hpp>

#include "recipe_options.hpp"

namespace convoke::app {

struct BenchOptions : RecipeOptions {
  double seconds = 1;
  int rounds = 3;
  bool json = false;
  bool profile = false;
  bool data = false;  ///< only what feeds the step
};

void add_bench(CLI::App& parser, BenchOptions& options);

/// Times the training step of a recipe on random data: every rank, every thread, communication included; or,
/// with --data, only how fast samples are converted and augmented.
int bench(const BenchOptions& options);

}  // namespace convoke::app
