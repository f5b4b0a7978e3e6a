#pragma once
#include <vector>

#include "convoke/study/analysis/analysis.hpp"

namespace example {

using namespace convoke;

/// Two modes on 1, 2 and 4 ranks, with half and all of the samples, three runs each; 4 ranks are
/// oversubscribed. Includes a machine with prices, and predictions for up to 8 workers.
inline study::Analysis study_of_two_modes() {
  std::vector<study::Measurement> runs;
  for (const char* mode : {"sync", "ensemble"}) {
    for (const double fraction : {0.5, 1.0}) {
      for (const std::int64_t ranks : {1, 2, 4}) {
        for (const std::int64_t repeat : {1, 2, 3}) {
          study::Measurement run;
          run.system = "net <of> tests";
          run.mode = mode;
          run.ranks = ranks;
          run.fraction = fraction;
          run.repeat = repeat;
          run.makespan_seconds =
              fraction * (10.0 / static_cast<double>(ranks) + 0.5 + 0.1 * static_cast<double>(repeat));
          run.accuracy = 0.9 + 0.01 * fraction + 0.001 * static_cast<double>(repeat);
          run.compute_seconds = 0.8 * *run.makespan_seconds;
          run.load_seconds = 0.1;
          if (ranks == 4) run.marks = {"oversubscribed"};
          runs.push_back(run);
        }
      }
    }
  }
  study::AnalysisOptions options;
  options.scaling.up_to = 8;
  study::PricedMachine machine;
  machine.name = "cloud";
  machine.price_per_hour = 2;
  machine.currency = "EUR";
  options.machines.push_back(machine);
  return study::analyze(runs, options);
}

}  // namespace example
