#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "convoke/core/lookup.hpp"
#include "convoke/core/text.hpp"
#include "report/run/sections.hpp"

// Confusion matrix and scores of each class. ROC curves: how well the probability of a class separates its
// samples from all others. Calibration: whether probabilities match frequencies.

namespace convoke::report {
namespace {

constexpr std::int64_t kMostClasses = 40;  // in a whole matrix, and in a chart
constexpr std::size_t kMostConfusions = 40;

struct Confusion {
  std::int64_t truth, said, count;
};

std::vector<Confusion> confusions_of(const Settings& evaluation) {
  std::vector<Confusion> confusions;
  for (const std::vector<double>& numbers : rows_at(evaluation, "confusion")) {
    if (numbers.size() != 3) continue;
    confusions.push_back({std::llround(numbers[0]), std::llround(numbers[1]), std::llround(numbers[2])});
  }
  return confusions;
}

// Blue: the share of the class that is right. Orange: the share of a confusion relative to the worst one;
// otherwise it would hardly be visible next to the blue cells.
Table matrix_table(const std::vector<Confusion>& confusions, const std::vector<double>& support,
                   const ClassNames& names) {
  const auto classes = static_cast<std::size_t>(names.count());
  std::vector<std::vector<std::int64_t>> counts(classes, std::vector<std::int64_t>(classes));
  for (const Confusion& each : confusions) {
    if (each.truth < 0 || each.truth >= names.count() || each.said < 0 || each.said >= names.count())
      continue;
    counts[static_cast<std::size_t>(each.truth)][static_cast<std::size_t>(each.said)] = each.count;
  }
  const auto share = [&](std::size_t truth, std::size_t said) {
    const double samples = truth < support.size() ? support[truth] : 0;
    return samples > 0 ? static_cast<double>(counts[truth][said]) / samples : 0;
  };
  double worst = 0;
  for (std::size_t truth = 0; truth < classes; ++truth) {
    for (std::size_t said = 0; said < classes; ++said) {
      if (truth != said) worst = std::max(worst, share(truth, said));
    }
  }
  Table table{{"true class"}, {}};
  for (std::size_t truth = 0; truth < classes; ++truth) {
    table.columns.push_back(names(static_cast<std::int64_t>(truth)));
    std::vector<Cell> row{names(static_cast<std::int64_t>(truth))};
    for (std::size_t said = 0; said < classes; ++said) {
      const double shade = truth == said ? share(truth, said) : -share(truth, said) / worst;
      const std::int64_t count = counts[truth][said];
      row.push_back(count == 0 ? Cell::zero() : Cell::count(count).shaded(shade));
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

// The strength of a cell that is not 0 begins above 0, so that a single sample among thousands is visible.
HeatMap matrix_map(const std::vector<Confusion>& confusions, const std::vector<double>& support,
                   const ClassNames& names) {
  constexpr double kVisible = 0.3;
  HeatMap map{
      .title = "Confusion matrix of all classes",
      .note =
          "Test samples by true and predicted class. Correct predictions are blue, wrong ones orange; "
          "the larger the share of the true class, the stronger the color.",
      .row_title = "true class",
      .column_title = "predicted",
      .unit = "samples"};
  for (std::int64_t label = 0; label < names.count(); ++label) map.rows.push_back(names(label));
  map.columns = map.rows;
  for (const Confusion& each : confusions) {
    const auto truth = static_cast<std::size_t>(each.truth), said = static_cast<std::size_t>(each.said);
    if (truth >= map.rows.size() || said >= map.rows.size() || each.count == 0) continue;
    const double share =
        truth < support.size() && support[truth] > 0 ? static_cast<double>(each.count) / support[truth] : 0;
    const double shade = kVisible + (1 - kVisible) * std::min(share, 1.0);
    map.cells.push_back({truth, said, static_cast<double>(each.count), truth == said ? shade : -shade});
  }
  std::ranges::sort(map.cells, [](const HeatMap::Cell& a, const HeatMap::Cell& b) {
    return std::pair(a.row, a.column) < std::pair(b.row, b.column);
  });
  return map;
}

Table worst_confusions(std::vector<Confusion> confusions, const std::vector<double>& support,
                       const ClassNames& names) {
  std::erase_if(confusions, [](const Confusion& each) { return each.truth == each.said; });
  std::ranges::stable_sort(confusions,
                           [](const Confusion& a, const Confusion& b) { return a.count > b.count; });
  confusions.resize(std::min(confusions.size(), kMostConfusions));
  Table table{{"true class", "predicted", "samples", "share of the class"}, {}};
  for (const Confusion& each : confusions) {
    const auto truth = static_cast<std::size_t>(each.truth);
    table.rows.push_back(
        {names(each.truth), names(each.said), Cell::count(each.count),
         Cell::percent(truth < support.size() ? static_cast<double>(each.count) / support[truth] : NAN)});
  }
  return table;
}

/// Scores of each class. A score with a denominator of 0 is NaN here; evaluation.json has 0, as scikit-learn
/// does.
struct ClassScores {
  std::vector<double> precision, recall, f1, support;
  std::vector<std::int64_t> never_predicted, without_samples;

  ClassScores(const Settings& evaluation, const std::vector<Confusion>& confusions) {
    const Settings& scores = table_at(evaluation, "class_scores");
    precision = numbers_at(scores, "precision"), recall = numbers_at(scores, "recall");
    f1 = numbers_at(scores, "f1"), support = numbers_at(scores, "support");
    const std::size_t classes = std::min({precision.size(), recall.size(), f1.size(), support.size()});
    for (std::vector<double>* each : {&precision, &recall, &f1, &support}) each->resize(classes);
    std::vector<std::int64_t> predicted(classes);
    for (const Confusion& each : confusions) {
      if (const auto said = static_cast<std::size_t>(each.said); said < classes)
        predicted[said] += each.count;
    }
    for (std::size_t c = 0; c < classes; ++c) {
      if (predicted[c] == 0) {
        precision[c] = NAN;
        never_predicted.push_back(static_cast<std::int64_t>(c));
      }
      if (support[c] == 0) {
        recall[c] = NAN;
        without_samples.push_back(static_cast<std::int64_t>(c));
      }
      if (predicted[c] == 0 && support[c] == 0) f1[c] = NAN;
    }
  }
};

Table score_table(const ClassScores& scores, const ClassNames& names) {
  Table table{{"class", "precision", "recall", "F1", "samples"}, {}};
  for (std::size_t c = 0; c < scores.support.size(); ++c) {
    table.rows.push_back({names(static_cast<std::int64_t>(c)), Cell::percent(scores.precision[c], 2),
                          Cell::percent(scores.recall[c], 2), Cell::percent(scores.f1[c], 2),
                          Cell::count(std::llround(scores.support[c]))});
  }
  return table;
}

// Shows errors instead of scores, because small differences of scores near 100 % are hard to see.
Chart score_chart(const ClassScores& scores, const ClassNames& names) {
  Chart chart{
      Chart::Kind::kBar,
      "Errors by class",
      "Missed: the share of the class that was predicted as another (100 % − recall). False: the share "
      "of the predictions of the class that are wrong (100 % − precision).",
      "",
      "%",
      {{"class", "missed", "false"}, {}}};
  for (std::size_t c = 0; c < scores.support.size(); ++c) {
    chart.table.rows.push_back({names(static_cast<std::int64_t>(c)), Cell::percent(1 - scores.recall[c], 2),
                                Cell::percent(1 - scores.precision[c], 2)});
  }
  return chart;
}

// Returns "bee, cat and 3 more".
std::string names_of(const std::vector<std::int64_t>& labels, const ClassNames& names) {
  constexpr std::size_t kMostNames = 10;
  std::vector<std::string> some;
  for (const std::int64_t label : labels) {
    if (some.size() < kMostNames) some.push_back(names(label));
  }
  const std::size_t more = labels.size() - some.size();
  return join(some) + (more > 0 ? fmt::format(" and {} more", more) : std::string());
}

void add_unknown(Page& page, const ClassScores& scores, const ClassNames& names) {
  if (!scores.never_predicted.empty()) {
    page.paragraph(
        fmt::format("Never predicted: {}. Their precision is undefined (–); weighted means count it as 0, as "
                    "scikit-learn's do.",
                    names_of(scores.never_predicted, names)));
  }
  if (!scores.without_samples.empty()) {
    page.paragraph(fmt::format("Without test samples: {}. Their recall is undefined (–).",
                               names_of(scores.without_samples, names)));
  }
}

// The trapezoidal rule: exact up to the interpolation between points.
double area_under(const std::vector<double>& x, const std::vector<double>& y) {
  double area = 0;
  for (std::size_t i = 1; i < x.size(); ++i) area += (x[i] - x[i - 1]) * (y[i] + y[i - 1]) / 2;
  return area;
}

struct RocCurve {
  std::string name;
  std::vector<double> found;  ///< at each share of false alarms
};

// Returns a name that no class has, for a curve that belongs to none: "mean", or "mean (no class)".
std::string apart_from(const std::vector<RocCurve>& classes, std::string name) {
  while (std::ranges::find(classes, name, &RocCurve::name) != classes.end()) name += " (no class)";
  return name;
}

std::vector<RocCurve> roc_curves_of(const Settings& evaluation, std::size_t points) {
  const ClassNames names(evaluation);
  const std::vector<std::vector<double>> classes = rows_at(evaluation, "roc.classes");
  std::vector<RocCurve> curves;
  for (std::size_t c = 0; c < classes.size(); ++c) {
    const auto label = static_cast<std::int64_t>(c) + (classes.size() == 1 ? 1 : 0);
    curves.push_back({names(label), classes[c]});
  }
  if (curves.size() != 1) curves.push_back({apart_from(curves, "mean"), numbers_at(evaluation, "roc.mean")});
  std::erase_if(curves, [&](const RocCurve& curve) {
    return curve.found.size() != points || std::isnan(curve.found.front());
  });
  return curves;
}

Chart roc_chart(const std::vector<double>& alarms, const std::vector<RocCurve>& curves) {
  Chart chart{Chart::Kind::kLine,
              "ROC curves",
              "Each threshold of a class's probability finds a share of the class's samples (true "
              "positives), and wrongly takes a share of all other samples for the class (false positives). A "
              "curve along the left and upper edge is best; the diagonal is chance.",
              "false positive rate, %",
              "true positive rate, %",
              {{"false positive rate"}, {}}};
  chart.most = 100;
  for (const RocCurve& curve : curves) chart.table.columns.push_back(curve.name);
  chart.table.columns.push_back(apart_from(curves, "chance"));
  for (std::size_t point = 0; point < alarms.size(); ++point) {
    std::vector<Cell> row{Cell::percent(alarms[point], 2)};
    for (const RocCurve& curve : curves) row.push_back(Cell::percent(curve.found[point], 2));
    row.push_back(Cell::percent(alarms[point], 2));
    chart.table.rows.push_back(std::move(row));
  }
  return chart;
}

Chart reliability(const Settings& calibration, const std::string& whose) {
  Chart chart{
      Chart::Kind::kLine,
      "Reliability",
      fmt::format("How often {} is right for predictions of similar confidence. Below the ideal line it is "
                  "overconfident, above it underconfident.",
                  whose),
      "confidence, %",
      "right, %",
      {{"confidence", "right", "ideal"}, {}}};
  chart.most = 100;
  const std::vector<double> samples = numbers_at(calibration, "samples"),
                            confidence = numbers_at(calibration, "confidence"),
                            accuracy = numbers_at(calibration, "accuracy");
  for (std::size_t b = 0; b < std::min({samples.size(), confidence.size(), accuracy.size()}); ++b) {
    if (samples[b] == 0) continue;
    chart.table.rows.push_back(
        {Cell::percent(confidence[b], 2), Cell::percent(accuracy[b], 2), Cell::percent(confidence[b], 2)});
  }
  return chart;
}

Chart confidences(const Settings& calibration) {
  const std::vector<double> samples = numbers_at(calibration, "samples");
  Chart chart{Chart::Kind::kHistogram,
              "Confidence",
              "The number of test samples in each bin. Bins with few samples make the reliability uncertain.",
              "confidence from, %",
              "samples",
              {{"confidence from", "samples"}, {}},
              true};
  for (std::size_t b = 0; b < samples.size(); ++b) {
    chart.table.rows.push_back(
        {Cell::number(100 * static_cast<double>(b) / static_cast<double>(samples.size()), 3),
         Cell::count(std::llround(samples[b]))});
  }
  return chart;
}

}  // namespace

ClassNames::ClassNames(const Settings& evaluation)
    : names_(texts_at(evaluation, "class_names")), count_(count_at(evaluation, "classes").value_or(0)) {}

std::string ClassNames::operator()(std::int64_t label) const {
  const auto at = static_cast<std::size_t>(label);
  return at < names_.size() ? names_[at] : std::to_string(label);
}

void add_classes(Page& page, const RunRecord& run) {
  const std::vector<Confusion> confusions = confusions_of(run.evaluation);
  if (confusions.empty()) return;
  const ClassNames names(run.evaluation);
  const std::vector<double> support = numbers_at(run.evaluation, "class_scores.support");
  const bool votes = numbers_at(run.evaluation, "members").size() > 1;
  page.section("Classes");
  page.heading("Confusion matrix");
  const std::string decided =
      votes ? fmt::format("the {} vote", text_at(run.evaluation, "rule")) : std::string("the model");
  if (names.count() <= kMostClasses) {
    page.paragraph(fmt::format(
        "Test samples: a row for each true class, a column for each class that {} predicts. Correct "
        "predictions are blue, wrong ones orange; the larger the share of the class, the stronger the color.",
        decided));
    page.add(matrix_table(confusions, support, names));
  } else {
    page.paragraph(fmt::format("Test samples of {} classes, as {} predicts them.",
                               format_count(names.count()), decided));
    page.add(matrix_map(confusions, support, names));
    page.heading("Most frequent confusions");
    page.add(worst_confusions(confusions, support, names));
  }
  const ClassScores scores(run.evaluation, confusions);
  page.heading("Scores of each class");
  if (votes) page.paragraph(fmt::format("Scores of the classes that {} predicts.", decided));
  add_unknown(page, scores, names);
  if (names.count() <= kMostClasses) page.add(score_chart(scores, names));
  page.add(score_table(scores, names));
}

void add_roc(Page& page, const RunRecord& run) {
  const std::vector<double> alarms = numbers_at(run.evaluation, "roc.false_positive_rate");
  if (alarms.empty()) return;  // an unfinished run, or one of an older version
  const std::vector<RocCurve> curves = roc_curves_of(run.evaluation, alarms.size());
  if (curves.empty()) return;
  page.section("ROC curves");
  if (numbers_at(run.evaluation, "members").size() > 1)
    page.paragraph("This section evaluates the mean of the members' probabilities.");
  page.add(roc_chart(alarms, curves));
  page.heading("Areas under the curves");
  Table areas{{"class", "area under the curve (interpolated)"}, {}};
  for (const RocCurve& curve : curves)
    areas.rows.push_back({curve.name, Cell::number(area_under(alarms, curve.found))});
  page.add(areas);
}

void add_calibration(Page& page, const RunRecord& run) {
  const Settings& calibration = table_at(run.evaluation, "calibration");
  if (numbers_at(calibration, "samples").empty()) return;
  const bool votes = numbers_at(run.evaluation, "members").size() > 1;
  page.section("Calibration");
  const std::string of = votes ? ", mean probabilities" : "";
  page.facts({{"Expected calibration error" + of, fmt::format("{:.4f}", number_at(calibration, "ece"))},
              {"Maximum calibration error" + of, fmt::format("{:.4f}", number_at(calibration, "mce"))},
              {"Bins of equal width", fmt::format("{}", numbers_at(calibration, "samples").size())}});
  page.paragraph(fmt::format(
      "{}Confidence is the probability of the predicted class. The expected calibration error (ECE) is the "
      "mean, over the samples, of the distance between confidence and accuracy of their bin (Guo et al. "
      "2017).",
      votes
          ? fmt::format("This section evaluates the mean of the members' probabilities and its most probable "
                        "class, not the {} vote. ",
                        text_at(run.evaluation, "rule"))
          : std::string()));
  page.side_by_side(std::vector<Chart>{
      reliability(calibration, votes ? "the mean of the members' probabilities" : "the model"),
      confidences(calibration)});
}

}  // namespace convoke::report
