#pragma once
#include "command.hpp"

namespace convoke::app {

struct InfoOptions {
  int threads = 0;           ///< per rank; 0: auto
  bool recipe_keys = false;  ///< instead, the tables of all keys of a recipe
};

void add_info(CLI::App& parser, InfoOptions& options);
int info(const InfoOptions& options);

}  // namespace convoke::app
