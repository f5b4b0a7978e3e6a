#pragma once
#include <CLI/CLI.hpp>
#include <string>

#include "recipe_options.hpp"

namespace convoke::app {

struct TrainOptions : RecipeOptions {
  std::string output;
  std::string run;  ///< of --resume RUN: the run to go on with, by its own recipe
  bool resume = false;
  bool ignore_doctor = false;  ///< go on where the doctor finds an error
  std::int64_t member = -1;    ///< the only one to train, from 0; -1: all of them
  bool quiet = false;
};

void add_train(CLI::App& parser, TrainOptions& options);

/// Trains one model with all ranks, or an ensemble whose members vote. Returns EXIT_SUCCESS, or kExitRequeue
/// when a signal has stopped it at a checkpoint.
int train(const TrainOptions& options);

}  // namespace convoke::app
