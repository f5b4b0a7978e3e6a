#pragma once
#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "convoke/core/settings.hpp"
#include "convoke/engine/evaluator.hpp"
#include "convoke/metrics/classification_report.hpp"
#include "convoke/metrics/scores.hpp"
#include "convoke/mpi/communicator.hpp"
#include "convoke/vote/diversity.hpp"

namespace convoke::train {

/// A sample that the vote of the members misclassifies, and the vote of each member.
struct Mistake {
  std::int64_t sample = 0;  ///< its id: the index in its split
  std::int32_t truth = 0;
  double probability = 0;                  ///< of the true class, mean over the members (or the mean output)
  std::vector<std::int64_t> votes = {};    ///< each member's most probable class
  std::vector<double> probabilities = {};  ///< of each member's most probable class (or each member's output)
  std::vector<std::int64_t> elected =
      {};  ///< class elected by all members under each rule of vote::rule_names()
};

/// The votes of the members on some samples.
struct Votes {
  /// Each member predicts the label as a number (nn::predicts_number): outputs take the place of
  /// probabilities, and predictions and their mean are (samples, 1).
  bool numbers = false;
  std::vector<std::int32_t> labels;  ///< (members, samples): the most probable class of each member
  std::vector<float> probabilities;  ///< (members, samples): of that class
  std::vector<std::vector<std::int32_t>> elected;  ///< by all members, for each rule of vote::rule_names()

  /// Adds the predictions of one more member, (samples, classes), whose labels these are.
  void add(std::span<const float> predictions, std::span<const std::int32_t> chosen);
};

/// Finds the samples that a rule misclassifies and whose true class has the least mean probability (or is
/// farthest from the mean output): at most `most`, worst first (equal ones by id). `rule`: its place in
/// vote::rule_names(). `mean`: (samples, classes), as VoteCounts::mean_probabilities returns it; `truth` and
/// `ids`: those of this rank's samples, to which the votes belong. The result is the same for any number of
/// ranks, and on all of them. Collective.
std::vector<Mistake> worst_mistakes(const Votes& votes, std::size_t rule, std::span<const double> mean,
                                    std::span<const std::int32_t> truth, std::span<const std::uint32_t> ids,
                                    std::size_t most, const mpi::Communicator& group);

/// Returns a mistake in the format of evaluation.json. `numbers`: as in Votes.
Settings to_settings(const Mistake& mistake, bool numbers);

constexpr std::int64_t kDefaultTopK = 5;

/// Measures of the ranking of classes by probability, beyond the most probable class.
struct Ranking {
  std::int64_t k = kDefaultTopK;
  /// Share of samples whose true class is among the k most probable; NaN unless there are more than k
  /// classes.
  double top_k_accuracy = std::numeric_limits<double>::quiet_NaN();
  /// Area under the ROC curve: of the second class if there are two, otherwise the mean of one versus rest;
  /// NaN if a class has no samples.
  double roc_auc = std::numeric_limits<double>::quiet_NaN();
  /// ROC curves at the points of metrics::roc_grid: of the second class if there are two, otherwise of each
  /// class against the rest. An undefined curve is NaN. (curves, points)
  std::vector<std::vector<double>> roc_curves = {};
};

/// Ranks samples that the ranks of `group` share: `probabilities` (samples, classes) and `truth` are this
/// rank's part. Pairs are counted exactly, by one rank for each class, with memory for the scores of one
/// class at a time. The result is the same for any number of ranks, and on all of
/// them. `k`: 0 for none. Collective.
Ranking rank(std::span<const double> probabilities, std::span<const std::int32_t> truth, std::int64_t classes,
             std::int64_t k, const mpi::Communicator& group);

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
