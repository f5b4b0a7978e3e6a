#pragma once
#include "cli/options.hpp"

namespace convoke::app {

/// Options of `convoke bench`.
struct BenchOptions : RecipeOptions {
  double seconds = 1;
  int rounds = 3;
  bool json = false;
  bool profile = false;
  bool data = false;  ///< time only the preparation of samples
};

/// Measures how many random samples of the recipe's shape all ranks and threads convert, normalise and
/// augment in a second, without a network. Prints the rate, and returns the exit code.
int bench_data(const BenchOptions& options);

}  // namespace convoke::app
