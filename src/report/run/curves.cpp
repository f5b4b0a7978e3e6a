#include "report/run/curves.hpp"

#include <cmath>
#include <limits>
#include <set>

#include "convoke/core/lookup.hpp"

namespace convoke::report {
namespace {

constexpr double kPlaces =
    1000;  // positions of validations within an epoch are rounded to this fraction of it

// Returns the steps per epoch; 0 before the first epoch has ended.
double steps_of_epoch(const RunRecord& run, std::int64_t member) {
  for (const Settings& line : run.log) {
    if (text_at(line, "event") != "epoch" || count_at(line, "member").value_or(0) != member) continue;
    const double steps = number_at(line, "step") / number_at(line, "epoch");
    return std::isfinite(steps) ? steps : 0;
  }
  return 0;
}

}  // namespace

std::vector<std::int64_t> members_with(const RunRecord& run, std::string_view event) {
  std::set<std::int64_t> members;
  for (const Settings& line : run.log) {
    if (text_at(line, "event") == event) members.insert(count_at(line, "member").value_or(0));
  }
  return {members.begin(), members.end()};
}

std::vector<std::int64_t> trained_members(const RunRecord& run) { return members_with(run, "epoch"); }

EpochCurve curve_of(const RunRecord& run, std::int64_t member, const std::string& key) {
  EpochCurve curve;
  const double steps = steps_of_epoch(run, member);
  for (const Settings& line : run.log) {
    const std::string event = text_at(line, "event");
    if (count_at(line, "member").value_or(0) != member) continue;
    const double value = number_at(line, key);
    if (std::isnan(value)) continue;
    if (event == "epoch") curve.values[number_at(line, "epoch")] = value;
    if (event == "validation" && steps > 0) {
      curve.values[std::round(kPlaces * number_at(line, "step") / steps) / kPlaces] = value;
    }
  }
  return curve;
}

EpochCurve mean_curve(const RunRecord& run, const std::string& key) {
  std::map<double, std::pair<double, double>> sums;  // by epoch: sum and count
  for (const std::int64_t member : trained_members(run)) {
    for (const auto& [epoch, value] : curve_of(run, member, key).values) {
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

}  // namespace convoke::report
