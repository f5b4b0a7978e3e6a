#pragma once
#include <CLI/CLI.hpp>
#include <vector>

#include "recipe_options.hpp"

namespace convoke::app {

/// `convoke study predict`
struct StudyPredictOptions : RecipeOptions {
  std::vector<int> ranks;
  int ranks_per_node = 0;  // 0: as many as there are on this one
  double latency = 0;      // between nodes, seconds; 0: measured, or assumed
  double bandwidth = 0;    // between nodes, bytes per second; likewise
  double core_share = -1;  // of the transfer between nodes; below 0: chosen
  bool weak = false;
  bool check = false;
  bool json = false;
  double seconds = 1;
};

void add_study_predict(CLI::App& parser, StudyPredictOptions& options);
int study_predict(const StudyPredictOptions& options);

}  // namespace convoke::app
