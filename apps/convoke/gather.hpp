#pragma once
#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace convoke::app {

struct GatherOptions {
  std::vector<std::string> runs;
  std::string output;
  bool partial = false;
};

void add_gather(CLI::App& parser, GatherOptions& options);

/// Makes one ensemble of members that were trained in jobs of their own, with its vote on the test samples.
int gather(const GatherOptions& options);

}  // namespace convoke::app
