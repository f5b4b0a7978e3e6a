#pragma once
#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace convoke::app {

struct CompareOptions {
  std::vector<std::string> runs;
};

void add_compare(CLI::App& parser, CompareOptions& options);

/// Prints finished runs ranked by validation accuracy with the recipe keys in which they differ, then side by
/// side, speed-up over the first, and of each ensemble and synchronous run on as many cores which did better,
/// or why that cannot be said.
int compare(const CompareOptions& options);

}  // namespace convoke::app
