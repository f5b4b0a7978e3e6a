#include "convoke/train/evaluation.hpp"

#include <algorithm>

#include "convoke/core/error.hpp"
#include "convoke/core/finite.hpp"
#include "convoke/core/table.hpp"
#include "convoke/mpi/together.hpp"
#include "convoke/vote/rule.hpp"

namespace convoke::train {
namespace {

constexpr std::size_t kMistakes = 36;  // kept for inspection

// Calibration of probabilities (samples, classes), summed over the ranks of `group`. Collective.
template <class T>
metrics::Calibration calibration_of(std::span<const T> probabilities, std::span<const std::int32_t> truth,
                                    std::int64_t classes, const mpi::Communicator& group) {
  metrics::Calibration calibration;
  for (std::size_t i = 0; i < truth.size(); ++i) {
    const auto row =
        probabilities.subspan(i * static_cast<std::size_t>(classes), static_cast<std::size_t>(classes));
    const auto best = std::max_element(row.begin(), row.end());
    calibration.add(static_cast<double>(*best), best - row.begin() == truth[i]);
  }
  group.sum(calibration.counts());
  return calibration;
}

std::int64_t count_equal(std::span<const std::int32_t> labels, std::span<const std::int32_t> truth) {
  std::int64_t count = 0;
  for (std::size_t i = 0; i < truth.size(); ++i) count += labels[i] == truth[i] ? 1 : 0;
  return count;
}

// Returns how many rows of `outputs`, (samples, k), have a value that is not finite.
std::int64_t count_not_finite(std::span<const float> outputs, std::size_t samples) {
  const std::size_t k = samples == 0 ? 0 : outputs.size() / samples;
  std::int64_t count = 0;
  for (std::size_t i = 0; i < samples; ++i) count += all_finite(outputs.subspan(i * k, k)) ? 0 : 1;
  return count;
}

// The samples of this rank that a rule decides correctly, for the first 1, 2, ... members.
struct Prefixes {
  std::string name;
  vote::Rule rule;
  std::vector<std::int64_t> correct;
};

// `elected`: by all members. Collective.
RuleOutcome outcome_of(Prefixes prefixes, std::span<const std::int32_t> elected,
                       std::span<const std::int32_t> truth, std::int64_t classes,
                       const mpi::Communicator& group) {
  RuleOutcome outcome{std::move(prefixes.name), {}, metrics::ConfusionMatrix(classes)};
  outcome.all.add(truth, elected);
  group.sum(outcome.all.counts());
  group.sum(prefixes.correct);
  for (const std::int64_t correct : prefixes.correct) {
    outcome.prefix_accuracies.push_back(static_cast<double>(correct) /
                                        static_cast<double>(outcome.all.total()));
  }
  return outcome;
}

}  // namespace

const RuleOutcome& Evaluation::rule(const std::string& name) const {
  return find_in(rules, name, "voting rule");
}

Evaluation evaluate(engine::Evaluator& evaluator, std::int64_t members,
                    const std::function<std::span<const float>(std::int64_t)>& parameters,
                    const data::BatchLoader& loader, std::span<const std::uint32_t> ids,
                    const mpi::Communicator& group, std::int64_t top_k, const engine::TestViews& views) {
  if (ids.empty()) throw Error("there are no samples to evaluate on");
  const std::span<const std::uint32_t> mine = engine::part_of(group, ids);
  std::vector<std::int32_t> truth;
  for (const std::uint32_t id : mine) truth.push_back(loader.split().labels[id]);

  const bool numbers = evaluator.predicts_number();
  Votes votes;
  votes.numbers = numbers;
  const auto count = static_cast<std::int64_t>(mine.size());
  vote::VoteCounts counts(count, evaluator.classes()), sums(numbers ? count : 0, 1);
  std::vector<Prefixes> prefixes;
  for (const std::string& name : vote::rule_names()) prefixes.push_back({name, vote::find_rule(name), {}});
  votes.elected.resize(prefixes.size());
  std::vector<std::int64_t> correct, not_finite;
  std::vector<engine::LossSum> losses;
  std::vector<metrics::Calibration> member_calibration;
  for (std::int64_t m = 0; m < members; ++m) {
    const std::span<const float> canonical = parameters(m);
    std::vector<float> outputs = mpi::together(group, [&] {
      evaluator.load(canonical);
      return evaluator.outputs(loader, mine, views);
    });
    engine::LossSum& loss = losses.emplace_back(evaluator, loader.split());
    for (std::size_t i = 0; i < mine.size(); ++i) loss.add(outputs, i, mine[i]);
    not_finite.push_back(count_not_finite(outputs, mine.size()));
    const std::vector<float> values = numbers ? outputs : std::vector<float>();
    sums.add(values);
    const std::vector<float> predictions = evaluator.to_probabilities(std::move(outputs));
    const std::vector<std::int32_t> labels = counts.add(predictions);
    votes.add(numbers ? values : predictions, labels);
    correct.push_back(count_equal(labels, truth));
    for (std::size_t rule = 0; rule < prefixes.size(); ++rule) {
      votes.elected[rule] = vote::elect(prefixes[rule].rule, counts);
      prefixes[rule].correct.push_back(count_equal(votes.elected[rule], truth));
    }
    if (numbers) continue;
    member_calibration.push_back(
        calibration_of(std::span<const float>(predictions), truth, evaluator.classes(), group));
  }
  group.sum(correct);
  group.sum(not_finite);
  vote::Diversity diversity(members);
  diversity.add(votes.labels, truth);
  group.sum(diversity.counts());
  const std::vector<double> mean = (numbers ? sums : counts).mean_probabilities();
  std::vector<RuleOutcome> rules;
  for (std::size_t rule = 0; rule < prefixes.size(); ++rule) {
    rules.push_back(
        outcome_of(std::move(prefixes[rule]), votes.elected[rule], truth, evaluator.classes(), group));
    rules.back().mistakes = worst_mistakes(votes, rule, mean, truth, mine, kMistakes, group);
  }

  const auto samples = static_cast<std::int64_t>(ids.size());
  Evaluation result{
      .samples = samples,
      .numbers = numbers,
      .members = {},
      .rules = std::move(rules),
      .diversity = std::move(diversity),
      .ranking = numbers ? Ranking{.k = top_k} : rank(mean, truth, evaluator.classes(), top_k, group),
      .calibration = numbers
                         ? metrics::Calibration()
                         : calibration_of(std::span<const double>(mean), truth, evaluator.classes(), group),
      .member_calibration = std::move(member_calibration),
      .soups = {},
      .not_finite = std::move(not_finite)};
  for (std::size_t m = 0; m < static_cast<std::size_t>(members); ++m) {
    result.members.push_back(losses[m].score(correct[m], samples, group));
  }
  return result;
}

double accuracy(const metrics::ConfusionMatrix& matrix) {
  std::int64_t correct = 0;
  for (std::int64_t c = 0; c < matrix.classes(); ++c) correct += matrix.at(c, c);
  return matrix.total() == 0 ? 0 : static_cast<double>(correct) / static_cast<double>(matrix.total());
}

}  // namespace convoke::train
