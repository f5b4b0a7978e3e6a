#pragma once
#include <string>

#include "command.hpp"

namespace convoke::app {

struct LayersOptions {
  std::string name;       ///< the layer to show; empty: all of them
  bool markdown = false;  ///< the tables of docs/layers.md
};

void add_layers(CLI::App& parser, LayersOptions& options);
int layers(const LayersOptions& options);

}  // namespace convoke::app
