#pragma once
#include "command.hpp"

namespace convoke::app {

struct InfoOptions {
  int threads = 0;  ///< per rank; 0: auto
};

void add_info(CLI::App& parser, InfoOptions& options);
int info(const InfoOptions& options);

}  // namespace convoke::app
