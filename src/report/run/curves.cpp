#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <utility>

#include "convoke/core/lookup.hpp"
#include "report/run/sections.hpp"

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
    median.values[position] = of_members[of_members.size() / 2];
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

}  // namespace convoke::report
