#pragma once
#include <CLI/CLI.hpp>
#include <string>

#include "convoke/nn/plan/parameters.hpp"

namespace convoke::app {

struct EvaluateOptions {
  std::string model;
  std::string data;        ///< empty: the dataset of the model's run
  std::string split;       ///< empty: the run's data.test_split; "test" for a model without a recipe
  std::string rule;        ///< empty: that of the run
  int threads = 0;         ///< per rank; 0: auto
  std::int64_t views = 1;  ///< of each sample, of which the mean is taken
  nn::Precision precision = nn::Precision::kFloat32;
  bool json = false;
};

void add_evaluate(CLI::App& parser, EvaluateOptions& options);

/// Accuracy, votes and the classification report of a model or an ensemble on a split of a dataset.
int evaluate(const EvaluateOptions& options);

}  // namespace convoke::app
