#include "convoke/train/evaluation.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <utility>
#include <vector>

#include "convoke/core/error.hpp"
#include "convoke/core/finite.hpp"
#include "convoke/core/keys.hpp"
#include "convoke/core/table.hpp"
#include "convoke/metrics/json.hpp"
#include "convoke/metrics/scores.hpp"
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

namespace {

// The worst mistake comes first: the one with the least probability of the true class, or with the number
// that is farthest from the label. A number that is not finite is worst.
std::pair<double, std::int64_t> order_of(const Mistake& mistake, bool numbers) {
  if (!numbers) return {mistake.probability, mistake.sample};
  const double distance = std::abs(mistake.probability - mistake.truth);
  return {std::isfinite(distance) ? -distance : -HUGE_VAL, mistake.sample};
}

constexpr auto mistake_fields(std::string_view mean, std::string_view each) {
  return std::array{
      field<&Mistake::sample>("sample"),    field<&Mistake::truth>("truth"),
      field<&Mistake::probability>(mean),   field<&Mistake::votes>("votes"),
      field<&Mistake::probabilities>(each), field<&Mistake::elected>("elected"),
  };
}
constexpr auto kMistakeFields = mistake_fields("probability", "probabilities"),
               kNumberFields = mistake_fields("output", "outputs");

std::string to_json(const std::vector<Mistake>& mistakes) {
  std::vector<Settings> list;
  for (const Mistake& mistake : mistakes) list.push_back(convoke::to_settings(kMistakeFields, mistake));
  return metrics::list_to_json(std::move(list));
}

std::vector<Mistake> mistakes_from_json(const std::string& json) {
  std::vector<Mistake> mistakes;
  for (const Settings& entry : metrics::list_from_json(json))
    mistakes.push_back(from_settings(kMistakeFields, entry, "mistake"));
  return mistakes;
}

// Adds the votes to samples that were selected as mistakes.
void add_votes(std::vector<Mistake>& mistakes, const std::vector<std::size_t>& places, const Votes& votes,
               std::size_t samples) {
  for (std::size_t i = 0; i < mistakes.size(); ++i) {
    for (std::size_t vote = places[i]; vote < votes.labels.size(); vote += samples) {
      mistakes[i].votes.push_back(votes.labels[vote]);
      mistakes[i].probabilities.push_back(static_cast<double>(votes.probabilities[vote]));
    }
    for (const std::vector<std::int32_t>& elected : votes.elected)
      mistakes[i].elected.push_back(elected[places[i]]);
  }
}

}  // namespace

void Votes::add(std::span<const float> predictions, std::span<const std::int32_t> chosen) {
  labels.insert(labels.end(), chosen.begin(), chosen.end());
  const std::size_t classes = chosen.empty() ? 0 : predictions.size() / chosen.size();
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    probabilities.push_back(predictions[i * classes + (numbers ? 0 : static_cast<std::size_t>(chosen[i]))]);
  }
}

std::vector<Mistake> worst_mistakes(const Votes& votes, std::size_t rule, std::span<const double> mean,
                                    std::span<const std::int32_t> truth, std::span<const std::uint32_t> ids,
                                    std::size_t most, const mpi::Communicator& group) {
  const std::size_t classes = ids.empty() ? 0 : mean.size() / ids.size();
  const auto mistake = [&](std::size_t i) {
    const double of_truth = mean[i * classes + (votes.numbers ? 0 : static_cast<std::size_t>(truth[i]))];
    return Mistake{.sample = ids[i],
                   .truth = truth[i],
                   .probability = std::isnan(of_truth) && !votes.numbers ? 0 : of_truth};
  };
  std::vector<std::size_t> wrong;  // indices into `ids`, worst first
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (votes.elected[rule][i] != truth[i]) wrong.push_back(i);
  }
  std::sort(wrong.begin(), wrong.end(), [&](std::size_t a, std::size_t b) {
    return order_of(mistake(a), votes.numbers) < order_of(mistake(b), votes.numbers);
  });
  wrong.resize(std::min(wrong.size(), most));
  std::vector<Mistake> mine;
  for (const std::size_t i : wrong) mine.push_back(mistake(i));
  add_votes(mine, wrong, votes, ids.size());

  std::vector<Mistake> all;
  for (const std::string& json : group.gather(to_json(mine))) {
    const std::vector<Mistake> theirs = mistakes_from_json(json);
    all.insert(all.end(), theirs.begin(), theirs.end());
  }
  std::ranges::sort(all, {}, [&](const Mistake& each) { return order_of(each, votes.numbers); });
  all.resize(std::min(all.size(), most));
  return mistakes_from_json(group.broadcast(to_json(all)));
}

Settings to_settings(const Mistake& mistake, bool numbers) {
  return convoke::to_settings(numbers ? kNumberFields : kMistakeFields, mistake);
}

namespace {

constexpr double kUndefined = -1;  // marks a curve that does not exist: a share is at least 0

}  // namespace

Ranking rank(std::span<const double> probabilities, std::span<const std::int32_t> truth, std::int64_t classes,
             std::int64_t k, const mpi::Communicator& group) {
  std::int64_t sums[] = {static_cast<std::int64_t>(truth.size()),
                         k > 0 ? metrics::top_k_hits(probabilities, truth, k) : 0};
  group.sum(sums);

  // Class c is counted by rank c % size.
  std::vector<std::int32_t> all_truth;
  for (int root = 0; root < group.size(); ++root) {
    std::vector<std::int32_t> gathered = mpi::gather_values(group, truth, root);
    if (root == group.rank()) all_truth = std::move(gathered);
  }
  std::vector<std::int64_t> counts(static_cast<std::size_t>(3 * classes));
  const std::size_t points = metrics::roc_grid().size();
  std::vector<double> curves(static_cast<std::size_t>(classes) * points);  // zeros where another rank counts
  std::vector<double> mine(truth.size());
  for (std::size_t c = 0; c < static_cast<std::size_t>(classes); ++c) {
    for (std::size_t i = 0; i < mine.size(); ++i) {
      mine[i] = probabilities[i * static_cast<std::size_t>(classes) + c];
    }
    const int root = static_cast<int>(c) % group.size();
    const std::vector<double> scores = mpi::gather_values(group, mine, root);
    if (root != group.rank()) continue;
    const metrics::RocPairs pairs = metrics::roc_pairs(scores, all_truth, static_cast<std::int32_t>(c));
    const std::vector<double> curve = metrics::roc_curve(scores, all_truth, static_cast<std::int32_t>(c));
    std::copy(curve.begin(), curve.end(), curves.begin() + static_cast<std::ptrdiff_t>(c * points));
    if (curve.empty()) curves[c * points] = kUndefined;
    counts[3 * c] = pairs.twice_ordered;
    counts[3 * c + 1] = pairs.positives;
    counts[3 * c + 2] = pairs.negatives;
  }
  group.sum(counts);
  group.sum(curves);

  Ranking ranking{.k = k};
  if (k > 0 && k < classes && sums[0] > 0) {
    ranking.top_k_accuracy = static_cast<double>(sums[1]) / static_cast<double>(sums[0]);
  }
  std::vector<metrics::RocPairs> pairs;
  for (std::size_t i = 0; i < counts.size(); i += 3) {
    pairs.push_back({counts[i], counts[i + 1], counts[i + 2]});
  }
  ranking.roc_auc = metrics::roc_auc(pairs);
  for (std::size_t c = classes == 2 ? 1 : 0; c < static_cast<std::size_t>(classes); ++c) {
    const auto first = curves.begin() + static_cast<std::ptrdiff_t>(c * points);
    std::vector<double>& curve =
        ranking.roc_curves.emplace_back(first, first + static_cast<std::ptrdiff_t>(points));
    if (curve.front() == kUndefined) curve.assign(points, std::numeric_limits<double>::quiet_NaN());
  }
  return ranking;
}

}  // namespace convoke::train
