#include "convoke/train/verdict.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <optional>

#include "convoke/core/error.hpp"
#include "convoke/core/text.hpp"
#include "convoke/core/timeline.hpp"
#include "convoke/metrics/classification_report.hpp"
#include "convoke/metrics/scores.hpp"
#include "convoke/mpi/together.hpp"
#include "convoke/train/member_exchange.hpp"
#include "convoke/train/reports.hpp"
#include "convoke/train/soup.hpp"

namespace convoke::train {

namespace {

void write_models(const Job& job, std::span<const TrainedMember* const> voters,
                  const MemberExchange::Next& next, const run::RunFolder& folder) {
  if (!job.is_ensemble) {
    run::write_model(folder.model(), job.model, next(0));
    return;
  }
  std::vector<const run::Member*> models;
  for (const TrainedMember* voter : voters) models.push_back(&voter->model);
  run::write_ensemble(folder.ensemble(), job.model, models, next);
}

// Returns the network as it was trained at last. All members of an ensemble have one network, also those that
// stopped before the last stage, because models that vote together must have equal networks.
nn::Graph graph_at_end(const Job& job, const TrainedMember& member) {
  return graph_in_epoch(job,
                        job.is_ensemble ? job.loop.epochs : std::max(member.epochs_done, member.stopped_in));
}

[[noreturn]] void throw_without_voters(const std::vector<TrainedMember>& members) {
  std::vector<std::string> reasons;
  for (const TrainedMember& member : members) {
    reasons.push_back(fmt::format("member {}: {}", member.model.index, member.failure));
  }
  throw Error("no member is left to vote: " + join(reasons, "; "),
              "remove the cause; then --resume continues each member from its newest checkpoint");
}

}  // namespace

std::int64_t Verdict::samples_processed() const {
  return std::transform_reduce(members.begin(), members.end(), std::int64_t{0}, std::plus<>(),
                               [](const TrainedMember& member) { return member.samples_processed; });
}

bool Verdict::resumed() const {
  return std::ranges::any_of(members, [](const TrainedMember& member) { return member.steps_before > 0; });
}

Verdict gather_and_vote(const Job& job, const Training& training, const Groups& groups,
                        const mpi::Communicator& world, const data::BatchLoader& test,
                        const run::RunFolder& folder, run::Phases& phases, const DataLoaders* loaders) {
  const Timeline::Use use(*phases.timeline);
  Job trained = job;  // with the network as it was trained at last
  Verdict verdict;
  verdict.rule = job.ensemble.rule;
  std::vector<const TrainedMember*> voters;
  std::optional<MemberExchange> exchange;
  {
    const Span span(Activity::kGather);
    verdict.members = list_members(training.members, groups, world);
    for (const TrainedMember& member : verdict.members) {
      if (!member.failure.empty()) continue;
      voters.push_back(&member);
      verdict.voters.push_back(member.model.index);
    }
    if (voters.empty()) throw_without_voters(verdict.members);
    trained.model.graph = graph_at_end(job, *voters.front());
    const std::size_t values = engine::canonical_values(engine::canonical_parameters(job.model.graph));
    exchange.emplace(voters, training.members, values, world);
    exchange->bring_to_root(
        [&](const MemberExchange::Next& next) { write_models(trained, voters, next, folder); });
  }
  const Span span(Activity::kEvaluation);
  engine::Evaluator evaluator(trained.model.graph,
                              engine::evaluator_options(job.engine, job.model.classes()));
  const auto parameters = [&](std::int64_t voter) {
    return exchange->bring_to_all(static_cast<std::size_t>(voter));
  };
  verdict.test =
      evaluate(evaluator, std::ssize(voters), parameters, test, all_ids(test.split()), world, job.loop.top_k);
  if (voters.size() > 1 && !job.ensemble.soups.empty()) {
    verdict.test.soups =
        make_soups(trained, training, verdict, groups, world, loaders, test, evaluator, folder);
  }
  verdict.report = metrics::classification_report(verdict.test.rule(job.ensemble.rule).all);
  mpi::on_root(world, [&] {
    RunLogs(job, folder).append_evaluation(evaluation_record("test", verdict.test));
    if (job.log.tensorboard) append_test(job, folder, verdict);
  });
  return verdict;
}

namespace {

// Lists only nonzero counts: there may be a thousand classes, but few samples.
Value::Array confusions(const metrics::ConfusionMatrix& matrix) {
  Value::Array list;
  for (std::int64_t truth = 0; truth < matrix.classes(); ++truth) {
    for (std::int64_t said = 0; said < matrix.classes(); ++said) {
      if (matrix.at(truth, said) > 0) list.emplace_back(Value::Array{truth, said, matrix.at(truth, said)});
    }
  }
  return list;
}

Settings class_scores(const metrics::ClassificationReport& report) {
  Value::Array precision, recall, f1, support;
  for (const metrics::Scores& scores : report.classes) {
    precision.emplace_back(scores.precision);
    recall.emplace_back(scores.recall);
    f1.emplace_back(scores.f1);
    support.emplace_back(scores.support);
  }
  return {{"precision", std::move(precision)},
          {"recall", std::move(recall)},
          {"f1", std::move(f1)},
          {"support", std::move(support)}};
}

// Returns the mean curve, and those of the classes if there are few of them.
Settings roc_of(const Ranking& ranking) {
  constexpr std::size_t kMostCurves = 12;
  const std::vector<double> grid = metrics::roc_grid();
  Value::Array mean, curves;
  for (std::size_t point = 0; point < grid.size(); ++point) {
    double sum = 0;
    for (const std::vector<double>& curve : ranking.roc_curves) sum += curve[point];
    mean.emplace_back(sum / static_cast<double>(ranking.roc_curves.size()));
  }
  for (const std::vector<double>& curve : ranking.roc_curves) {
    if (ranking.roc_curves.size() <= kMostCurves)
      curves.emplace_back(Value::Array(curve.begin(), curve.end()));
  }
  return {{"false_positive_rate", Value::Array(grid.begin(), grid.end())},
          {"mean", std::move(mean)},
          {"classes", std::move(curves)}};
}

// The most members whose pairs are listed: the tables grow with the square (26 MB for 1,000 members), and the
// summary has the means.
constexpr std::int64_t kPairedMembers = 128;

// Returns the rows of a measure of each member with each member.
template <class Measure>
Value::Array pairs(std::int64_t members, const Measure& measure) {
  Value::Array rows;
  for (std::int64_t a = 0; a < members; ++a) {
    Value::Array row;
    for (std::int64_t b = 0; b < members; ++b) row.emplace_back(measure(a, b));
    rows.emplace_back(std::move(row));
  }
  return rows;
}

Settings to_settings(const metrics::Calibration& calibration) {
  Value::Array samples, confidence, accuracy;
  for (std::int64_t b = 0; b < calibration.bins(); ++b) {
    const metrics::Calibration::Bin bin = calibration.bin(b);
    samples.emplace_back(bin.samples);
    confidence.emplace_back(bin.confidence);
    accuracy.emplace_back(bin.accuracy);
  }
  return {{"ece", calibration.expected_error()},
          {"mce", calibration.maximum_error()},
          {"samples", std::move(samples)},
          {"confidence", std::move(confidence)},
          {"accuracy", std::move(accuracy)}};
}

}  // namespace

Settings evaluation_details(const Evaluation& evaluation, const std::string& rule,
                            const std::vector<std::int64_t>& members,
                            const std::vector<std::string>& class_names) {
  const metrics::ConfusionMatrix& matrix = evaluation.rule(rule).all;
  const vote::Diversity& diversity = evaluation.diversity;
  Value::Array rules, calibrations, mistakes;
  for (const RuleOutcome& outcome : evaluation.rules) rules.emplace_back(outcome.name);
  for (const metrics::Calibration& each : evaluation.member_calibration) {
    calibrations.emplace_back(to_settings(each));
  }
  for (const Mistake& mistake : evaluation.rule(rule).mistakes) {
    mistakes.emplace_back(to_settings(mistake, evaluation.numbers));
  }
  Settings details{{"samples", evaluation.samples},
                   {"classes", matrix.classes()},
                   {"members", Value::Array(members.begin(), members.end())},
                   {"rule", rule},
                   {"rules", std::move(rules)},
                   {"confusion", confusions(matrix)},
                   {"class_scores", class_scores(metrics::classification_report(matrix))}};
  if (!evaluation.numbers) {
    details.set("calibration", to_settings(evaluation.calibration));
    details.set("member_calibration", std::move(calibrations));
    details.set("roc", roc_of(evaluation.ranking));
  }
  details.set("mistakes", std::move(mistakes));
  if (diversity.members() <= kPairedMembers) {
    details.set("disagreement_of_pairs",
                pairs(diversity.members(), [&](auto a, auto b) { return diversity.disagreement(a, b); }));
    details.set("q_statistic_of_pairs",
                pairs(diversity.members(), [&](auto a, auto b) { return diversity.q_statistic(a, b); }));
  }
  if (!class_names.empty()) {
    details.set("class_names", Value::Array(class_names.begin(), class_names.end()));
  }
  return details;
}

}  // namespace convoke::train
