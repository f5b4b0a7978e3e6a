#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "convoke/core/settings.hpp"
#include "convoke/metrics/classification_report.hpp"
#include "convoke/train/ensemble.hpp"
#include "convoke/train/evaluation.hpp"

namespace convoke::train {

/// The final result of a run: its models on the test samples, one by one and as voters.
struct Verdict {
  std::vector<TrainedMember> members;    ///< all of them, without parameters
  std::vector<std::int64_t> voters;      ///< indices of the members that vote, in order
  Evaluation test;                       ///< evaluation of the voters
  std::string rule;                      ///< the rule that decides
  metrics::ClassificationReport report;  ///< for the decision of all voters

  std::int64_t samples_processed() const;  ///< in this session, by all ranks
  bool resumed() const;                    ///< a member continued from a checkpoint
};

/// Brings the members to rank 0, one at a time, to write model.h5 (one synchronous model) or ensemble.h5.
/// Lets the members vote on the test samples, which are spread over the ranks of the world, makes the soups
/// that the job wants if at least two members vote, and computes the verdict. `loaders`: the samples of the
/// training, which greedy soups need; may be null otherwise. The result is the same on all ranks. Collective.
/// Throws Error if no member is left to vote, with the reason for each member, or if a file cannot be
/// written.
Verdict gather_and_vote(const Job& job, const Training& training, const Groups& groups,
                        const mpi::Communicator& world, const data::BatchLoader& test,
                        const run::RunFolder& folder, run::Phases& phases,
                        const DataLoaders* loaders = nullptr);

/// Returns the content of evaluation.json, whose keys are in docs/formats.md: the confusion matrix and the
/// scores of each class for the decision of all voters by `rule`, the disagreement and Q statistic of each
/// pair of members, the calibration of the mean probabilities and of each member, and the worst mistakes.
/// `members`: the numbers of the evaluated members; `class_names`: one for each class, or empty.
Settings evaluation_details(const Evaluation& evaluation, const std::string& rule,
                            const std::vector<std::int64_t>& members,
                            const std::vector<std::string>& class_names);

}  // namespace convoke::train
