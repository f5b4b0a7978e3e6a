#include "convoke/train/evaluation.hpp"

#include "convoke/core/error.hpp"
#include "convoke/core/table.hpp"
#include "convoke/vote/diversity.hpp"
#include "convoke/vote/rule.hpp"

namespace convoke::train {
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

  std::vector<float> probabilities;                                       // (members, samples, classes)
  std::vector<std::int64_t> sums(static_cast<std::size_t>(2 * members));  // of each member: correct, loss
  for (std::int64_t m = 0; m < members; ++m) {
    evaluator.load(parameters(m));
    std::vector<float> outputs = evaluator.outputs(loader, mine, views);
    for (std::size_t i = 0; i < truth.size(); ++i) {
      sums[static_cast<std::size_t>(2 * m + 1)] += evaluator.fixed_loss(outputs, i, truth[i]);
    }
    const std::vector<float> one = evaluator.to_probabilities(std::move(outputs));
    probabilities.insert(probabilities.end(), one.begin(), one.end());
  }
  const vote::Ballots ballots{probabilities, members, static_cast<std::int64_t>(mine.size()),
                              evaluator.classes()};

  const std::vector<std::int32_t> labels = vote::member_labels(ballots);
  for (std::size_t i = 0; i < labels.size(); ++i) {
    sums[2 * (i / truth.size())] += labels[i] == truth[i % truth.size()] ? 1 : 0;
  }
  group.sum(sums);
  vote::Disagreement disagreement(members);
  disagreement.add(labels);
  group.sum(disagreement.counts());

  const auto samples = static_cast<std::int64_t>(ids.size());
  Evaluation result{
      .samples = samples,
      .members = {},
      .rules = {},
      .disagreement = disagreement.mean(),
      .ranking = rank(vote::mean_probabilities(ballots), truth, evaluator.classes(), top_k, group)};
  for (std::size_t m = 0; m < static_cast<std::size_t>(members); ++m) {
    result.members.push_back({samples, static_cast<double>(sums[2 * m]) / static_cast<double>(samples),
                              engine::loss_from_fixed(sums[2 * m + 1]) / static_cast<double>(samples)});
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
