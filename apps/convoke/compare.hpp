#pragma once
#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace convoke::app {

struct CompareOptions {
  std::vector<std::string> runs;
};

void add_compare(CLI::App& parser, CompareOptions& options);

/// Prints finished runs side by side, speed-up over the first, and a sentence that says which did better.
int compare(const CompareOptions& options);

}  // namespace convoke::app
