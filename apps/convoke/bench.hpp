#pragma once
#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace convoke::app {

struct BenchOptions {
  std::string recipe;
  std::vector<std::string> changes;
  double seconds = 1;
  int rounds = 3;
  bool json = false;
  bool profile = false;
};

void add_bench(CLI::App& parser, BenchOptions& options);

/// Times the training step of a recipe on random data: every rank, every thread, communication included.
int bench(const BenchOptions& options);

}  // namespace convoke::app
