#include "convoke/train/verdict.hpp"

#include <fmt/format.h>

#include <numeric>

#include "convoke/core/error.hpp"
#include "convoke/core/text.hpp"
#include "convoke/core/timeline.hpp"
#include "convoke/metrics/classification_report.hpp"
#include "convoke/run/collective.hpp"
#include "convoke/train/reports.hpp"
#include "convoke/train/tensorboard.hpp"

namespace convoke::train {

namespace {

void write_models(const Job& job, const std::vector<const run::Member*>& voters,
                  const run::RunFolder& folder) {
  if (!job.ensemble) {
    run::write_model(folder.model(), job.model, voters.front()->parameters);
    return;
  }
  run::write_ensemble(folder.ensemble(), job.model, voters);
}

[[noreturn]] void throw_without_voters(const std::vector<TrainedMember>& members) {
  std::vector<std::string> reasons;
  for (const TrainedMember& member : members) {
    reasons.push_back(fmt::format("member {}: {}", member.model.index, member.failure));
  }
  throw Error("no member is left to vote: " + join(reasons, "; "),
              "remove the cause; then --resume continues each member from its newest checkpoint");
}

// Evaluates models that only rank 0 holds: it broadcasts them one at a time. Collective.
Evaluation evaluate_from_root(engine::Evaluator& evaluator, std::span<const run::Member* const> models,
                              const data::BatchLoader& loader, const mpi::Communicator& world,
                              std::int64_t top_k) {
  std::vector<std::uint32_t> ids(static_cast<std::size_t>(loader.split().count()));
  std::iota(ids.begin(), ids.end(), 0U);
  std::vector<float> parameters(evaluator.parameter_values());
  const auto next = [&](std::int64_t member) -> std::span<const float> {
    if (world.root()) parameters = models[static_cast<std::size_t>(member)]->parameters;
    world.broadcast(std::as_writable_bytes(std::span(parameters)));
    return parameters;
  };
  return evaluate(evaluator, static_cast<std::int64_t>(models.size()), next, loader, ids, world, top_k);
}

}  // namespace

std::int64_t Verdict::samples_processed() const {
  return std::transform_reduce(members.begin(), members.end(), std::int64_t{0}, std::plus<>(),
                               [](const TrainedMember& member) { return member.samples_processed; });
}

Verdict convene(const Job& job, Training training, const Groups& groups, const mpi::Communicator& world,
                const data::BatchLoader& test, const run::RunFolder& folder, run::Phases& phases) {
  const Timeline::Use use(*phases.timeline);
  Verdict verdict;
  verdict.rule = job.rule;
  std::vector<const run::Member*> voters;
  {
    const Span span(Activity::kGather);
    verdict.members = gather(std::move(training.members), groups, world);
    for (const TrainedMember& member : verdict.members) {
      if (!member.failure.empty()) continue;
      voters.push_back(&member.model);
      verdict.voters.push_back(member.model.index);
    }
    if (voters.empty()) throw_without_voters(verdict.members);
    run::on_root(world, [&] {
      write_models(job, voters, folder);
      return std::string();
    });
  }
  const Span span(Activity::kEvaluation);
  engine::Evaluator evaluator(job.model.graph, engine::evaluator_options(job.engine, job.model.classes()));
  verdict.test = evaluate_from_root(evaluator, voters, test, world, job.top_k);
  verdict.report = metrics::classification_report(verdict.test.rule(job.rule).all());
  run::on_root(world, [&] {
    RunLogs(job, folder).append(evaluation_record("test", verdict.test));
    if (job.log.tensorboard) append_test(job, folder, verdict);
    return std::string();
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

Value::Array pairs(const vote::Disagreement& disagreement) {
  Value::Array rows;
  for (std::int64_t a = 0; a < disagreement.members(); ++a) {
    Value::Array row;
    for (std::int64_t b = 0; b < disagreement.members(); ++b) row.emplace_back(disagreement.between(a, b));
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
  const metrics::ConfusionMatrix& matrix = evaluation.rule(rule).all();
  Value::Array rules, calibrations, mistakes;
  for (const RuleOutcome& outcome : evaluation.rules) rules.emplace_back(outcome.name);
  for (const metrics::Calibration& each : evaluation.member_calibration) {
    calibrations.emplace_back(to_settings(each));
  }
  for (const Mistake& mistake : evaluation.mistakes) mistakes.emplace_back(to_settings(mistake));
  Settings details{{"samples", evaluation.samples},
                   {"classes", matrix.classes()},
                   {"members", Value::Array(members.begin(), members.end())},
                   {"rule", rule},
                   {"rules", std::move(rules)},
                   {"confusion", confusions(matrix)},
                   {"class_scores", class_scores(metrics::classification_report(matrix))},
                   {"disagreement_of_pairs", pairs(evaluation.disagreement)},
                   {"calibration", to_settings(evaluation.calibration)},
                   {"member_calibration", std::move(calibrations)},
                   {"mistakes", std::move(mistakes)}};
  if (!class_names.empty()) {
    details.set("class_names", Value::Array(class_names.begin(), class_names.end()));
  }
  return details;
}

}  // namespace convoke::train
