#include "convoke/train/evaluation_details.hpp"

#include "convoke/metrics/classification_report.hpp"

namespace convoke::train {
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
