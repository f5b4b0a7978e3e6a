#pragma once
#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "convoke/nn/plan/parameters.hpp"
#include "samples_from.hpp"

namespace convoke::app {

struct PredictOptions {
  std::string model;
  std::vector<std::string> inputs;
  std::vector<std::string> texts;  ///< to label, after the inputs
  std::string output;              ///< empty: CSV on standard output
  SampleOptions samples;
  std::string rule;        ///< empty: that of the run
  int threads = 0;         ///< per rank; 0: auto
  std::int64_t views = 1;  ///< of each sample, of which the mean is taken
  nn::Precision precision = nn::Precision::kFloat32;
};

void add_predict(CLI::App& parser, PredictOptions& options);

/// Labels pictures, texts, rows of a table, a NumPy batch or a dataset with a model or an ensemble; with
/// --raw, writes the network's own output.
int predict(const PredictOptions& options);

}  // namespace convoke::app
