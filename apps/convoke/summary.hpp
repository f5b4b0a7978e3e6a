#pragma once
#include <string>
#include <vector>

#include "command.hpp"

namespace convoke::app {

struct SummaryOptions {
  std::string recipe;
  std::vector<std::string> changes;  ///< key=value
  bool plan = false;                 ///< also the primitives of a training step
  bool toml = false;                 ///< instead, the recipe with every default written out
};

void add_summary(CLI::App& parser, SummaryOptions& options);
int summary(const SummaryOptions& options);

}  // namespace convoke::app
