#include "convoke/metrics/classification_report.hpp"

#include <algorithm>
#include <numeric>
#include <string>
#include <string_view>

#include "convoke/core/error.hpp"
#include "convoke/core/text.hpp"

namespace convoke::metrics {

namespace {

constexpr int kDigits = 4;
constexpr std::size_t kNumberWidth = 9;

double ratio(double part, double whole) { return whole > 0 ? part / whole : 0.0; }

//   precision = tp / predicted    recall = tp / support    F1 = 2 tp / (predicted + support)
Scores scores_of(std::int64_t hits, std::int64_t predicted, std::int64_t support) {
  const auto tp = static_cast<double>(hits);
  return {.precision = ratio(tp, static_cast<double>(predicted)),
          .recall = ratio(tp, static_cast<double>(support)),
          .f1 = ratio(2 * tp, static_cast<double>(predicted + support)),
          .support = support};
}

// sum_c weight(c) scores(c) / sum_c weight(c)
template <class Weight>
Scores average(const std::vector<Scores>& classes, Weight weight) {
  Scores mean;
  double weights = 0;
  for (const Scores& scores : classes) {
    const double w = weight(scores);
    mean.precision += w * scores.precision;
    mean.recall += w * scores.recall;
    mean.f1 += w * scores.f1;
    mean.support += scores.support;
    weights += w;
  }
  mean.precision = ratio(mean.precision, weights);
  mean.recall = ratio(mean.recall, weights);
  mean.f1 = ratio(mean.f1, weights);
  return mean;
}

std::string right(std::string_view text, std::size_t width) {
  const std::size_t length = character_count(text);
  return std::string(width > length ? width - length : 0, ' ') + std::string(text);
}

std::string row(std::string_view name, std::size_t width, const std::vector<std::string>& cells) {
  std::string line = right(name, width) + ' ';
  for (const std::string& cell : cells) line += ' ' + right(cell, kNumberWidth);
  return line + '\n';
}

std::string row(std::string_view name, std::size_t width, const Scores& scores) {
  return row(name, width,
             {format_fixed(scores.precision, kDigits), format_fixed(scores.recall, kDigits),
              format_fixed(scores.f1, kDigits), std::to_string(scores.support)});
}

}  // namespace

ClassificationReport classification_report(const ConfusionMatrix& matrix) {
  ClassificationReport report;
  std::int64_t hits = 0;
  for (std::int64_t c = 0; c < matrix.classes(); ++c) {
    std::int64_t support = 0;
    std::int64_t predicted = 0;
    for (std::int64_t other = 0; other < matrix.classes(); ++other) {
      support += matrix.at(c, other);
      predicted += matrix.at(other, c);
    }
    hits += matrix.at(c, c);
    report.classes.push_back(scores_of(matrix.at(c, c), predicted, support));
  }
  report.accuracy = ratio(static_cast<double>(hits), static_cast<double>(matrix.total()));
  report.macro = average(report.classes, [](const Scores&) { return 1.0; });
  report.weighted =
      average(report.classes, [](const Scores& scores) { return static_cast<double>(scores.support); });
  return report;
}

std::string to_text(const ClassificationReport& report, const std::vector<std::string>& names) {
  ensure(names.empty() || names.size() == report.classes.size(), "a name for each class, or none");
  const auto name = [&](std::size_t c) { return names.empty() ? std::to_string(c) : names[c]; };
  std::size_t width = std::string_view("weighted avg").size();
  for (std::size_t c = 0; c < report.classes.size(); ++c) width = std::max(width, character_count(name(c)));

  std::string text = row("", width, {"precision", "recall", "f1-score", "support"}) + '\n';
  for (std::size_t c = 0; c < report.classes.size(); ++c) text += row(name(c), width, report.classes[c]);
  text += '\n';
  text += row("accuracy", width,
              {"", "", format_fixed(report.accuracy, kDigits), std::to_string(report.macro.support)});
  text += row("macro avg", width, report.macro);
  text += row("weighted avg", width, report.weighted);
  return text;
}

ConfusionMatrix::ConfusionMatrix(std::int64_t classes)
    : classes_(classes), counts_(static_cast<std::size_t>(classes * classes)) {
  ensure(classes > 0, "there is a class");
}

void ConfusionMatrix::add(std::span<const std::int32_t> truth, std::span<const std::int32_t> predicted) {
  ensure(truth.size() == predicted.size(), "a prediction for each sample");
  for (std::size_t i = 0; i < truth.size(); ++i) {
    for (const std::int32_t label : {truth[i], predicted[i]}) {
      if (label < 0 || label >= classes_) {
        throw Error("label " + std::to_string(label) + " of sample " + std::to_string(i) +
                    " is outside the " + std::to_string(classes_) + " classes");
      }
    }
    ++counts_[static_cast<std::size_t>(truth[i] * classes_ + predicted[i])];
  }
}

std::int64_t ConfusionMatrix::at(std::int64_t truth, std::int64_t predicted) const {
  ensure(truth >= 0 && truth < classes_ && predicted >= 0 && predicted < classes_,
         "the cell lies within the matrix");
  return counts_[static_cast<std::size_t>(truth * classes_ + predicted)];
}

std::int64_t ConfusionMatrix::total() const {
  return std::accumulate(counts_.begin(), counts_.end(), std::int64_t{0});
}

}  // namespace convoke::metrics
