#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include "convoke/core/lookup.hpp"
#include "convoke/core/text.hpp"
#include "convoke/study/analysis/statistics.hpp"
#include "report/run/sections.hpp"

// Loss, accuracy, learning rate and speed over epochs; the loss over steps, from the lines of
// `log.every_steps`.

namespace convoke::report {
namespace {

constexpr double kPlaces =
    1000;  // positions of validations within an epoch are rounded to this fraction of it

// Adds a line about an epoch or a validation to the curve of its member. `steps`: of an epoch, known after
// the first; 0 before.
void add_line(EpochCurve& curve, const Settings& line, double steps, const std::string& key) {
  const double value = number_at(line, key);
  if (std::isnan(value)) return;
  const std::string event = text_at(line, "event");
  if (event == "epoch") curve.values[number_at(line, "epoch")] = value;
  if (event == "validation" && steps > 0) {
    curve.values[std::round(kPlaces * number_at(line, "step") / steps) / kPlaces] = value;
  }
}

// Returns the steps of an epoch of each member that has completed one.
std::map<std::int64_t, double> steps_of_epochs(const RunRecord& run) {
  std::map<std::int64_t, double> steps_of;
  for (const Settings& line : run.log) {
    if (text_at(line, "event") != "epoch") continue;
    const double steps = number_at(line, "step") / number_at(line, "epoch");
    steps_of.try_emplace(count_at(line, "member").value_or(0), std::isfinite(steps) ? steps : 0);
  }
  return steps_of;
}

constexpr double kWide = 30;  // a learning rate that decreases by a larger factor has a logarithmic axis

// One model has training and validation in one chart. Members have separate charts for each, because there
// would be too many colors.
void add_quantity(std::vector<Chart>& charts, const RunRecord& run, const std::vector<std::int64_t>& members,
                  const Quantity& of) {
  const std::string title = of.title;
  const std::string training_note =
      "Measured during training: before the step that learns from the samples, with dropout and augmentation "
      "if the recipe has them.";
  const std::string validation = std::string("validation_") + of.key;
  if (members.size() == 1) {
    std::vector<EpochCurve> both{curves_by_member(run, of.key).front(),
                                 curves_by_member(run, validation).front()};
    both[0].name = "training";
    both[1].name = "validation";
    charts.push_back(curve_chart(title, training_note, of.axis, both, of.share));
    return;
  }
  charts.push_back(curve_chart(title + ", training", training_note, of.axis,
                               legible(curves_by_member(run, of.key)), of.share));
  const std::vector<EpochCurve> validations = legible(curves_by_member(run, validation));
  if (std::ranges::any_of(validations, [](const EpochCurve& curve) { return !curve.values.empty(); })) {
    charts.push_back(curve_chart(title + ", validation", "", of.axis, validations, of.share));
  }
}

Chart rate_chart(const RunRecord& run) {
  std::vector<EpochCurve> curves = curves_by_member(run, "learning_rate");
  const bool alike = std::ranges::all_of(
      curves, [&](const EpochCurve& curve) { return curve.values == curves.front().values; });
  if (alike) curves.resize(1);
  curves = legible(std::move(curves));
  if (curves.size() == 1) curves.front().name = "learning rate";
  double least = HUGE_VAL, largest = 0;
  for (const EpochCurve& curve : curves) {
    for (const auto& [epoch, rate] : curve.values) {
      least = std::min(least, rate);
      largest = std::max(largest, rate);
    }
  }
  Chart chart =
      curve_chart("Learning rate", "At the last step of each epoch.", "learning rate", curves, false);
  chart.logarithmic = least > 0 && largest > kWide * least;
  return chart;
}

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
  EpochCurve means{.name = curve.name};
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

// The chart of the loss by step, if the run logged steps (log.every_steps).
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

}  // namespace

std::vector<std::int64_t> trained_members(const RunRecord& run) {
  std::vector<std::int64_t> members;
  for (const auto& [member, steps] : steps_of_epochs(run)) members.push_back(member);
  return members;
}

std::vector<EpochCurve> curves_by_member(const RunRecord& run, const std::string& key) {
  const std::map<std::int64_t, double> steps_of = steps_of_epochs(run);
  std::map<std::int64_t, EpochCurve> curves;
  for (const auto& [member, steps] : steps_of) curves[member].name = "member " + std::to_string(member);
  for (const Settings& line : run.log) {
    const std::int64_t member = count_at(line, "member").value_or(0);
    const auto steps = steps_of.find(member);
    if (steps != steps_of.end()) add_line(curves[member], line, steps->second, key);
  }
  std::vector<EpochCurve> list;
  for (auto& [member, curve] : curves) list.push_back(std::move(curve));
  return list;
}

std::vector<EpochCurve> legible(std::vector<EpochCurve> members) {
  if (members.size() <= kMostMembers) return members;
  std::map<double, std::vector<double>> values;
  for (const EpochCurve& curve : members) {
    for (const auto& [position, value] : curve.values) values[position].push_back(value);
  }
  EpochCurve lowest{.name = "lowest of " + std::to_string(members.size()) + " members"};
  EpochCurve median{.name = "median"}, highest{.name = "highest"};
  for (auto& [position, of_members] : values) {
    std::ranges::sort(of_members);
    lowest.values[position] = of_members.front();
    median.values[position] = study::median(of_members);
    highest.values[position] = of_members.back();
  }
  return {std::move(lowest), std::move(median), std::move(highest)};
}

EpochCurve mean_curve(const RunRecord& run, const std::string& key) {
  std::map<double, std::pair<double, double>> sums;  // by epoch: sum and count
  for (const EpochCurve& curve : curves_by_member(run, key)) {
    for (const auto& [epoch, value] : curve.values) {
      sums[epoch].first += value;
      sums[epoch].second += 1;
    }
  }
  EpochCurve curve;
  for (const auto& [epoch, sum] : sums) curve.values[epoch] = sum.first / sum.second;
  return curve;
}

Chart curve_chart(const std::string& title, const std::string& note, const std::string& axis,
                  std::span<const EpochCurve> curves, bool share, const std::string& over) {
  Chart chart{Chart::Kind::kLine, title, note, over, axis, {{over}, {}}};
  if (share) chart.most = 100;
  std::set<double> epochs;
  for (const EpochCurve& curve : curves) {
    if (curve.values.empty()) continue;
    chart.table.columns.push_back(curve.name);
    for (const auto& [epoch, value] : curve.values) epochs.insert(epoch);
  }
  for (const double epoch : epochs) {
    const bool whole = epoch == std::round(epoch);
    std::vector<Cell> row{whole ? Cell::count(std::llround(epoch)) : Cell::number(epoch, 5)};
    for (const EpochCurve& curve : curves) {
      if (curve.values.empty()) continue;
      const auto at = curve.values.find(epoch);
      const double value = at == curve.values.end() ? std::numeric_limits<double>::quiet_NaN() : at->second;
      row.push_back(share ? Cell::percent(value, 2) : Cell::number(value, 5));
    }
    chart.table.rows.push_back(std::move(row));
  }
  return chart;
}

void add_curves(Page& page, const RunRecord& run) {
  const std::vector<std::int64_t> members = trained_members(run);
  page.section("Training");
  if (members.empty()) {
    page.paragraph(run.summary.find("gathered_from") != nullptr
                       ? "The runs whose members were gathered have the curves."
                       : "No epoch is complete yet, or metrics.jsonl is missing.");
    add_step_curves(page, run);
    return;
  }
  if (!run.complete() && text_at(run.recipe, "train.mode") == "ensemble") {
    std::vector<std::string> shown;
    for (const std::int64_t member : members) shown.push_back(std::to_string(member));
    page.paragraph("While an ensemble trains, its log contains only the members that rank 0 trains: " +
                   join(shown) + ".");
  }
  std::vector<Chart> charts;
  add_quantity(charts, run, members, {"loss", "Loss", "loss", false});
  add_quantity(charts, run, members, {"accuracy", "Accuracy", "%", true});
  charts.push_back(rate_chart(run));
  std::vector<EpochCurve> speeds = legible(curves_by_member(run, "images_per_second"));
  if (members.size() == 1) speeds.front().name = "images/s";
  charts.push_back(curve_chart("Speed", "Training samples per second, over all ranks that train the model.",
                               "images/s", speeds, false));
  page.side_by_side(charts);
  add_step_curves(page, run);
}

}  // namespace convoke::report
