#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "convoke/engine/evaluator.hpp"
#include "convoke/metrics/calibration.hpp"
#include "convoke/metrics/confusion_matrix.hpp"
#include "convoke/train/mistakes.hpp"
#include "convoke/train/ranking.hpp"
#include "convoke/vote/diversity.hpp"

namespace convoke::train {

/// What a voting rule elects: prefixes[k] counts the votes of the first k + 1 members.
struct RuleOutcome {
  std::string name;
  std::vector<metrics::ConfusionMatrix> prefixes;

  const metrics::ConfusionMatrix& all() const { return prefixes.back(); }
};

/// Several models on the same samples: each for itself, and what they elect together.
struct Evaluation {
  std::int64_t samples = 0;
  std::vector<engine::Score> members;
  std::vector<RuleOutcome> rules;      ///< every rule that there is; with one member all say the same
  vote::Disagreement disagreement{1};  ///< of each pair of members
  Ranking ranking;                     ///< of the members' mean probabilities
  metrics::Calibration calibration;    ///< of the same
  std::vector<metrics::Calibration> member_calibration;
  std::vector<Mistake> mistakes;  ///< the worst of the same, at most 36

  /// Throws Error listing the known ones.
  const RuleOutcome& rule(const std::string& name) const;
};

/// Evaluates `members` parameter sets on `ids`, shared by the ranks of `group`: a rank holds all ballots on
/// its samples, so votes are decided where they are cast and only counts travel. `parameters(m)` gives the
/// canonical parameters of member m to every rank; it is called on all of them in the order of members and
/// may be collective. `top_k`: see Ranking. `views`: a sample's output is the mean over so many of the
/// loader's. Collective; the result is the same on all ranks. Throws Error if there are no samples.
Evaluation evaluate(engine::Evaluator& evaluator, std::int64_t members,
                    const std::function<std::span<const float>(std::int64_t)>& parameters,
                    const data::BatchLoader& loader, std::span<const std::uint32_t> ids,
                    const mpi::Communicator& group, std::int64_t top_k = kDefaultTopK,
                    const engine::TestViews& views = {});

/// Share of correct ones, (sum of the diagonal) / total.
double accuracy(const metrics::ConfusionMatrix& matrix);

}  // namespace convoke::train
