#include "convoke/train/evaluation.hpp"

#include <algorithm>

#include "convoke/core/error.hpp"
#include "convoke/core/fixed_point.hpp"
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

  std::vector<float> probabilities;  // (members, samples, classes)
  std::vector<std::int64_t> correct(static_cast<std::size_t>(members));
  std::vector<ExactSum> losses(static_cast<std::size_t>(members));
  for (std::int64_t m = 0; m < members; ++m) {
    const std::span<const float> canonical = parameters(m);
    std::vector<float> outputs = mpi::together(group, [&] {
      evaluator.load(canonical);
      return evaluator.outputs(loader, mine, views);
    });
    for (std::size_t i = 0; i < truth.size(); ++i) {
      losses[static_cast<std::size_t>(m)].add(evaluator.loss(outputs, i, truth[i]));
    }
    const std::vector<float> one = evaluator.to_probabilities(std::move(outputs));
    probabilities.insert(probabilities.end(), one.begin(), one.end());
  }
  const vote::Ballots ballots{probabilities, members, static_cast<std::int64_t>(mine.size()),
                              evaluator.classes()};

  const std::vector<std::int32_t> labels = vote::member_labels(ballots);
  for (std::size_t i = 0; i < labels.size(); ++i) {
    correct[i / truth.size()] += labels[i] == truth[i % truth.size()] ? 1 : 0;
  }
  group.sum(correct);
  for (ExactSum& loss : losses) group.sum(loss.parts());
  vote::Diversity diversity(members);
  diversity.add(labels, truth);
  group.sum(diversity.counts());

  const auto samples = static_cast<std::int64_t>(ids.size());
  const std::vector<double> mean = vote::mean_probabilities(ballots);
  Evaluation result{
      .samples = samples,
      .members = {},
      .rules = {},
      .diversity = std::move(diversity),
      .ranking = rank(mean, truth, evaluator.classes(), top_k, group),
      .calibration = calibration_of(std::span<const double>(mean), truth, evaluator.classes(), group),
      .member_calibration = {},
      .soups = {},
      .mistakes = worst_mistakes(ballots, mean, truth, mine, kMistakes, group)};
  for (std::size_t m = 0; m < static_cast<std::size_t>(members); ++m) {
    result.members.push_back({samples, static_cast<double>(correct[m]) / static_cast<double>(samples),
                              losses[m].value() / static_cast<double>(samples)});
    const std::size_t values = truth.size() * static_cast<std::size_t>(evaluator.classes());
    result.member_calibration.push_back(
        calibration_of(std::span<const float>(probabilities).subspan(m * values, values), truth,
                       evaluator.classes(), group));
  }
  std::vector<std::int32_t> elected(mine.size());
  for (const std::string& name : vote::rule_names()) {
    const vote::Rule rule = vote::find_rule(name);
    RuleOutcome& outcome = result.rules.emplace_back(RuleOutcome{name, {}});
    for (std::int64_t m = 1; m <= members; ++m) {
      metrics::ConfusionMatrix& matrix = outcome.prefixes.emplace_back(evaluator.classes());
      rule(ballots, m, elected);
      matrix.add(truth, elected);
      group.sum(matrix.counts());
    }
  }
  return result;
}

double accuracy(const metrics::ConfusionMatrix& matrix) {
  std::int64_t correct = 0;
  for (std::int64_t c = 0; c < matrix.classes(); ++c) correct += matrix.at(c, c);
  return matrix.total() == 0 ? 0 : static_cast<double>(correct) / static_cast<double>(matrix.total());
}

}  // namespace convoke::train
