#pragma once
#include <string>
#include <vector>

#include "command.hpp"
#include "convoke/data_prep/prepare.hpp"

namespace convoke::app {

struct PrepareOptions {
  data_prep::PrepareOptions work;
  std::string size, split, fold;  ///< as written: HxW, train=0.8,..., I/K
  std::string order = "auto";
  bool unstratified = false;
};

void add_prepare(CLI::App& parser, PrepareOptions& options);

/// Turns a source into a dataset file; the ranks share the decoding.
int prepare(const PrepareOptions& options);

}  // namespace convoke::app
