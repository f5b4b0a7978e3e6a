#pragma once
#include <CLI/CLI.hpp>
#include <string>

namespace convoke::app {

struct WatchOptions {
  std::string folder;
  double interval = 2;  ///< seconds
  bool once = false;
};

void add_watch(CLI::App& parser, WatchOptions& options);

/// Shows how a run gets on, from the files in its folder alone, until it ends. Returns EXIT_SUCCESS if it is
/// complete, or was only looked at once; else EXIT_FAILURE.
int watch(const WatchOptions& options);

}  // namespace convoke::app
