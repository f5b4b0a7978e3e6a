#pragma once
#include <string>
#include <vector>

#include "convoke/metrics/classification_report.hpp"
#include "convoke/train/ensemble.hpp"
#include "convoke/train/evaluation.hpp"

namespace convoke::train {

/// What a run ends in: its models on the test samples, each for itself and as voters.
struct Verdict {
  std::vector<TrainedMember> members;    ///< all of them; parameters only at rank 0
  std::vector<std::int64_t> voters;      ///< indices of the members that vote, in order
  Evaluation test;                       ///< of the voters
  std::string rule;                      ///< the one that decides
  metrics::ClassificationReport report;  ///< of the decision of all voters

  std::int64_t samples_processed() const;
};

/// Gathers the members at rank 0, writes model.h5 (one synchronous model) or ensemble.h5, lets them vote on
/// the test samples, spread over the ranks of the world, and judges. The same on all ranks. Collective.
/// Throws Error if no member is left to vote, naming what became of each, or if a file cannot be written.
Verdict convene(const Job& job, Training training, const Groups& groups, const mpi::Communicator& world,
                const data::BatchLoader& test, const run::RunFolder& folder, run::Phases& phases);

}  // namespace convoke::train
