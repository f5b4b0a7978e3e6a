#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "convoke/core/settings.hpp"
#include "convoke/mpi/communicator.hpp"

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

}  // namespace convoke::train
