#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "convoke/core/lookup.hpp"
#include "report/run/curves.hpp"
#include "report/run/sections.hpp"

// The loss over steps, from the lines of `log.every_steps`.

namespace convoke::report {
namespace {

constexpr std::size_t kMostPoints = 400;  // of a curve; neighboring lines are averaged beyond

// A curve for each member, by step; the later line is used if a resumed run repeats a step.
std::vector<EpochCurve> losses_by_step(const RunRecord& run) {
  std::map<std::int64_t, EpochCurve> curves;
  for (const Settings& line : run.log) {
    if (text_at(line, "event") != "step") continue;
    EpochCurve& curve = curves[count_at(line, "member").value_or(0)];
    const double loss = number_at(line, "loss");
    if (!std::isnan(loss)) curve.values[number_at(line, "step")] = loss;
  }
  std::vector<EpochCurve> list;
  for (auto& [member, curve] : curves) {
    curve.name = fmt::format("member {}", member);
    list.push_back(std::move(curve));
  }
  return list;
}

// Averages `lines` neighboring values, at the position of the last one.
EpochCurve averaged(const EpochCurve& curve, std::size_t lines) {
  EpochCurve means{.name = curve.name, .values = {}};
  double sum = 0;
  std::size_t count = 0, left = curve.values.size();
  for (const auto& [step, loss] : curve.values) {
    sum += loss;
    --left;
    if (++count < lines && left > 0) continue;
    means.values[step] = sum / static_cast<double>(count);
    sum = 0;
    count = 0;
  }
  return means;
}

}  // namespace

void add_step_curves(Page& page, const RunRecord& run) {
  std::vector<EpochCurve> curves = losses_by_step(run);
  std::size_t longest = 0;
  for (const EpochCurve& curve : curves) longest = std::max(longest, curve.values.size());
  if (longest == 0) return;
  if (curves.size() == 1) curves.front().name = "training";
  const std::size_t lines = (longest + kMostPoints - 1) / kMostPoints;
  for (EpochCurve& curve : curves) curve = averaged(curve, lines);
  curves = legible(std::move(curves));
  std::string note = "The loss of the samples of a step, before the step learns from them.";
  if (lines > 1) note += fmt::format(" Each point is the mean of {} logged steps.", lines);
  page.add(curve_chart("Loss by step", note, "loss", curves, false, "step"));
}

}  // namespace convoke::report
