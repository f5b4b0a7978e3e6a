#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "convoke/core/lookup.hpp"
#include "report/run/sections.hpp"

// Calibration: whether probabilities match frequencies.

namespace convoke::report {
namespace {

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
                        "class, not about the {} vote. ",
                        text_at(run.evaluation, "rule"))
          : std::string()));
  page.side_by_side(std::vector<Chart>{
      reliability(calibration, votes ? "the mean of the members' probabilities" : "the model"),
      confidences(calibration)});
}

}  // namespace convoke::report
