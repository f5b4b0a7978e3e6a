#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "convoke/core/settings.hpp"
#include "convoke/engine/evaluator.hpp"
#include "convoke/metrics/classification_report.hpp"
#include "convoke/metrics/scores.hpp"
#include "convoke/train/mistakes.hpp"
#include "convoke/train/ranking.hpp"
#include "convoke/vote/diversity.hpp"

namespace convoke::train {

/// The result of a voting rule.
struct RuleOutcome {
  std::string name;
  std::vector<double> prefix_accuracies;  ///< [k]: of the vote of the first k + 1 members
  metrics::ConfusionMatrix all;           ///< of the vote of all members
  std::vector<Mistake> mistakes = {};     ///< the worst of the vote of all members, at most 36
};

/// A soup: one model whose parameters are a weighted mean of the members' parameters (vote::Soup).
struct SoupOutcome {
  std::string name;
  std::vector<double> shares;  ///< of the members that vote, in order; their sum is 1
  engine::Score score;
};

/// The evaluation of several models on the same samples: of each model, and of their votes.
struct Evaluation {
  std::int64_t samples = 0;
  /// The models predict the label as a number (nn::predicts_number): ranking and calibration are empty, and
  /// mistakes have outputs instead of probabilities.
  bool numbers = false;
  std::vector<engine::Score> members;
  std::vector<RuleOutcome> rules;    ///< one for each rule; all are equal with one member
  vote::Diversity diversity{1};      ///< of each pair of members
  Ranking ranking;                   ///< from the members' mean probabilities
  metrics::Calibration calibration;  ///< from the members' mean probabilities
  std::vector<metrics::Calibration> member_calibration;
  std::vector<SoupOutcome> soups;        ///< of these models, on the same samples; after training, if wanted
  std::vector<std::int64_t> not_finite;  ///< of each member: samples with NaN or infinite outputs

  /// Throws Error that lists the known rules.
  const RuleOutcome& rule(const std::string& name) const;
};

/// Evaluates `members` parameter sets on `ids`, shared by the ranks of `group`. A rank gets the predictions
/// of all members for its samples, so it decides the votes on them, and only counts are sent. It adds up the
/// predictions, and keeps of each the elected labels and their probabilities. `parameters(m)` returns the
/// canonical parameters of member m on every rank; it is called on all ranks in the order of members and may
/// be collective. `top_k`: see Ranking. `views`: the output of a sample is the mean over this many views of
/// the loader. Collective; the result is the same on all ranks. Throws Error if there are no samples.
Evaluation evaluate(engine::Evaluator& evaluator, std::int64_t members,
                    const std::function<std::span<const float>(std::int64_t)>& parameters,
                    const data::BatchLoader& loader, std::span<const std::uint32_t> ids,
                    const mpi::Communicator& group, std::int64_t top_k = kDefaultTopK,
                    const engine::TestViews& views = {});

/// Returns the share of correct predictions, (sum of the diagonal) / total.
double accuracy(const metrics::ConfusionMatrix& matrix);

/// Returns the results of an evaluation as a part of summaries: accuracy, precision, recall, f1 (weighted),
/// loss and accuracy of members, accuracy of each prefix under each rule, disagreement. `members`: the
/// numbers of the evaluated members.
Settings evaluation_summary(const Evaluation& evaluation, const std::string& rule,
                            const std::vector<std::int64_t>& members);

/// Returns lines about members (of many: the best, the median and the worst) and votes, and the
/// classification report of `rule`.
std::string evaluation_text(const Evaluation& evaluation, const std::string& rule,
                            const std::vector<std::int64_t>& members,
                            const std::vector<std::string>& class_names);

}  // namespace convoke::train
