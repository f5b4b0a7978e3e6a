#include "convoke/train/evaluation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "convoke/core/text.hpp"
#include "convoke/metrics/classification_report.hpp"
#include "convoke/metrics/scores.hpp"

namespace convoke::train {
namespace {

void add_score(const engine::Score& score, Settings& entry) {
  entry.set("accuracy", score.accuracy);
  entry.set("loss", score.loss);
  if (!std::isnan(score.objective)) entry.set("objective", score.objective);
}

Value::Array soups(const Evaluation& evaluation) {
  Value::Array list;
  for (const SoupOutcome& soup : evaluation.soups) {
    Settings entry{{"soup", soup.name}, {"shares", Value::Array(soup.shares.begin(), soup.shares.end())}};
    add_score(soup.score, entry);
    list.emplace_back(std::move(entry));
  }
  return list;
}

// Returns "0.1043", or "0.1043   objective 0.3127" if training minimizes another function than the loss.
std::string loss_text(const engine::Score& score) {
  const auto number = [](double loss) { return std::isfinite(loss) ? format_fixed(loss, 4) : "not finite"; };
  return number(score.loss) + (std::isnan(score.objective) ? "" : "   objective " + number(score.objective));
}

// Lists the defined scores: "  top-5 accuracy 0.9876   ROC AUC 0.9954   quadratic kappa 0.9321   ECE 0.0123"
std::string further_scores(const Evaluation& evaluation, const metrics::ConfusionMatrix& matrix) {
  const Ranking& ranking = evaluation.ranking;
  std::string line;
  const auto add = [&](const std::string& name, double value) {
    if (!std::isnan(value)) line += fmt::format("{}{} {:.4f}", line.empty() ? "  " : "   ", name, value);
  };
  add(fmt::format("top-{} accuracy", ranking.k), ranking.top_k_accuracy);
  add(matrix.classes() == 2 ? "ROC AUC" : "ROC AUC (one versus rest)", ranking.roc_auc);
  add("quadratic kappa", metrics::quadratic_kappa(matrix));
  add("ECE", evaluation.calibration.expected_error());
  return line.empty() ? line : line + "\n";
}

// The most members of which each has a line; a table of more is not read. summary.json has all.
constexpr std::size_t kListedMembers = 32;

// Returns a line for each member; if they are many, for the best, the one in the middle and the worst.
std::string member_text(const Evaluation& evaluation, const std::vector<std::int64_t>& members) {
  const auto line = [&](std::size_t m, const std::string& note) {
    return fmt::format("  member {:<3} accuracy {:.4f}   loss {}{}\n", members[m],
                       evaluation.members[m].accuracy, loss_text(evaluation.members[m]), note);
  };
  std::string text;
  if (members.size() <= kListedMembers) {
    for (std::size_t m = 0; m < members.size(); ++m) text += line(m, "");
    return text;
  }
  std::vector<std::size_t> order(members.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) {
    return evaluation.members[a].accuracy > evaluation.members[b].accuracy;
  });
  return line(order.front(), fmt::format("   (the best of {})", members.size())) +
         line(order[order.size() / 2], "   (median)") + line(order.back(), "   (the worst)");
}

// Returns a line for each rule, with the accuracy of each prefix; if there are many, of 1, 2, 4, ... and all.
std::string prefix_text(const Evaluation& evaluation) {
  const std::size_t all = evaluation.members.size();
  std::vector<std::size_t> sizes;
  const bool many = kListedMembers < all;
  for (std::size_t n = 1; n < all; n = many ? 2 * n : n + 1) sizes.push_back(n);
  sizes.push_back(all);
  const std::string which = many ? fmt::format("{}", fmt::join(sizes, ", ")) : fmt::format("1 .. {}", all);
  std::string text;
  for (const RuleOutcome& outcome : evaluation.rules) {
    text += fmt::format("  {:<15} ", outcome.name);
    for (const std::size_t n : sizes) text += fmt::format(" {:.4f}", outcome.prefix_accuracies[n - 1]);
    text += fmt::format("   (the first {} members)\n", which);
  }
  return text;
}

}  // namespace

Settings evaluation_summary(const Evaluation& evaluation, const std::string& rule,
                            const std::vector<std::int64_t>& members) {
  const metrics::ClassificationReport report = metrics::classification_report(evaluation.rule(rule).all);
  Value::Array each;
  for (std::size_t m = 0; m < members.size(); ++m) {
    Settings entry{{"member", members[m]}};
    add_score(evaluation.members[m], entry);
    each.emplace_back(std::move(entry));
  }
  Settings prefixes;
  for (const RuleOutcome& outcome : evaluation.rules) {
    const std::vector<double>& accuracies = outcome.prefix_accuracies;
    prefixes.set(outcome.name, Value::Array(accuracies.begin(), accuracies.end()));
  }
  Settings result{{"samples", evaluation.samples},
                  {"accuracy", report.accuracy},
                  {"precision", report.weighted.precision},
                  {"recall", report.weighted.recall},
                  {"f1", report.weighted.f1},
                  {"rule", rule},
                  {"members", std::move(each)},
                  {"prefix_accuracy", std::move(prefixes)},
                  {"disagreement", evaluation.diversity.disagreement()}};
  const double q = evaluation.diversity.q_statistic();
  if (!std::isnan(q)) result.set("q_statistic", q);
  if (!evaluation.soups.empty()) result.set("soups", soups(evaluation));
  const Ranking& ranking = evaluation.ranking;
  if (!std::isnan(ranking.top_k_accuracy)) {
    result.set("top_k", ranking.k);
    result.set("top_k_accuracy", ranking.top_k_accuracy);
  }
  const double kappa = metrics::quadratic_kappa(evaluation.rule(rule).all);
  if (!std::isnan(kappa)) result.set("quadratic_kappa", kappa);
  if (!std::isnan(ranking.roc_auc)) result.set("roc_auc", ranking.roc_auc);
  if (!evaluation.numbers) result.set("ece", evaluation.calibration.expected_error());
  return result;
}

std::string evaluation_text(const Evaluation& evaluation, const std::string& rule,
                            const std::vector<std::int64_t>& members,
                            const std::vector<std::string>& class_names) {
  std::string text;
  if (members.size() > 1) {
    text += member_text(evaluation, members) + prefix_text(evaluation);
    for (const SoupOutcome& soup : evaluation.soups) {
      const auto parts =
          std::count_if(soup.shares.begin(), soup.shares.end(), [](double s) { return s > 0; });
      text += fmt::format("  {:<15}  {:.4f}   loss {}   (one model, the mean of {})\n", soup.name + " soup",
                          soup.score.accuracy, loss_text(soup.score), counted(parts, "member"));
    }
    text += fmt::format("  disagreement {:.4f}   (share of samples on which two members differ)\n",
                        evaluation.diversity.disagreement());
    const double q = evaluation.diversity.q_statistic();
    if (!std::isnan(q)) {
      text += fmt::format(
          "  Q statistic  {:.4f}   (1: two members err on the same samples, 0: independently)\n", q);
    }
  } else {
    text += fmt::format("  accuracy {:.4f}   loss {}\n", evaluation.members.front().accuracy,
                        loss_text(evaluation.members.front()));
  }
  const metrics::ConfusionMatrix& matrix = evaluation.rule(rule).all;
  text += further_scores(evaluation, matrix);
  return text + "\n" + metrics::to_text(metrics::classification_report(matrix), class_names);
}

}  // namespace convoke::train
