#pragma once
#include <CLI/CLI.hpp>
#include <cstdint>
#include <functional>
#include <string>

namespace convoke::app {

struct StudyOptions {
  std::string file;
  std::string output;
  bool resume = false;
  bool no_bind = false;
  bool dry_run = false;
};

void add_study(CLI::App& parser, StudyOptions& options);
int study(const StudyOptions& options);

}  // namespace convoke::app
