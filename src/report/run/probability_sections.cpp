#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "convoke/core/lookup.hpp"
#include "report/run/sections.hpp"

// ROC curves: how well the probability of a class separates its samples from all others. Calibration: whether
// probabilities match frequencies.

namespace convoke::report {
namespace {

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
  const Value::Array& classes = list_at(evaluation, "roc.classes");
  std::vector<RocCurve> curves;
  for (std::size_t c = 0; c < classes.size(); ++c) {
    const auto label = static_cast<std::int64_t>(c) + (classes.size() == 1 ? 1 : 0);
    curves.push_back({names(label), numbers_at(Settings{{"curve", classes[c]}}, "curve")});
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
