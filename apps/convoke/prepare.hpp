#pragma once
#include <string>
#include <vector>

#include "command.hpp"

namespace convoke::app {

struct PrepareOptions {
  std::string source;
  std::string output;
  std::string kind;  ///< of the source; empty: found out
  std::vector<std::string> class_names;
  bool overwrite = false;
};

void add_prepare(CLI::App& parser, PrepareOptions& options);

/// Turns a source into a dataset file; the ranks share the decoding.
int prepare(const PrepareOptions& options);

}  // namespace convoke::app
