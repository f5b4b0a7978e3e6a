#pragma once
#include <CLI/CLI.hpp>
#include <string>

#include "recipe_options.hpp"

namespace convoke::app {

struct DoctorOptions : RecipeOptions {
  std::string output = "runs";
  int threads = 0;  ///< per rank, without a recipe; 0: auto
  bool quick = false;
  bool json = false;
};

void add_doctor(CLI::App& parser, DoctorOptions& options);

/// Looks at ranks, hosts and, with a recipe, at what it asks of them. Returns doctor::exit_code.
int doctor(const DoctorOptions& options);

}  // namespace convoke::app
