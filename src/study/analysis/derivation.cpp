#include "study/analysis/derivation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "convoke/study/analysis/scaling.hpp"

namespace convoke::study {
namespace {

// Returns the speed-up of a row, as printed or derived from times.
std::optional<Range> speedup_of(const Rows& rows, const TableRow& row, std::string_view source) {
  return source == "speedup" ? Rows::figure(row, source) : rows.speedup(row, source);
}

// Returns the number by which all speed-ups may have been divided to give the printed efficiencies; a whole
// number if possible.
std::optional<double> common_divisor(const Rows& rows, std::string_view source) {
  double low = 0, high = HUGE_VAL;
  int count = 0;
  for (const TableRow& row : rows) {
    const auto efficiency = Rows::figure(row, "efficiency");
    const auto speedup = speedup_of(rows, row, source);
    if (!efficiency || !speedup) continue;
    const Range divisor = *speedup / *efficiency;
    low = std::max(low, divisor.low);
    high = std::min(high, divisor.high);
    ++count;
  }
  if (count < 2 || low > high) return {};
  const double whole = std::round((low + high) / 2);
  return whole >= low && whole <= high ? whole : (low + high) / 2;
}

// Applies `make` to the speed-up of makespans, of times per epoch, and (unusual) of means over ranks.
std::vector<Definition> of_times(
    const std::string& formula,
    const std::function<std::optional<Range>(const Range& speedup, double p)>& make) {
  std::vector<Definition> all;
  for (const TimeColumn& time : kTimes) {
    const auto derive = [time, make](const Rows& rows, const TableRow& row) -> std::optional<Range> {
      const auto speedup = rows.speedup(row, time.column);
      if (!speedup) return {};
      return make(*speedup, rows.workers(row, time.column));
    };
    all.push_back({fmt::format("{} of {}", formula, time.plural), derive, {}, {}});
  }
  all.back().usual_name = all.front().name;
  all.back().usual = all.front().derive;
  return all;
}

// Speed-up divided by workers, and by one number in all rows if there is one that fits.
std::vector<Definition> of_efficiency(const Rows& rows) {
  std::vector<Definition> usual, constant;
  for (const auto& [source, what] :
       {std::pair<std::string_view, std::string>{"makespan_seconds", "T1 / Tn of makespans"},
        {"epoch_seconds", "T1 / Tn of times per epoch"},
        {"speedup", "the printed speed-up"}}) {
    const auto by = [source = source](const Rows& all, const TableRow& row,
                                      double divisor) -> std::optional<Range> {
      const auto speedup = speedup_of(all, row, source);
      if (!speedup || divisor == 0) return {};
      return (1 / divisor) * *speedup;
    };
    const auto by_workers = [by, source = source](const Rows& all, const TableRow& row) {
      return by(all, row, all.workers(row, source));
    };
    usual.push_back({what + ", divided by the workers", by_workers, {}, {}});
    if (const auto divisor = common_divisor(rows, source)) {
      constant.push_back(
          {fmt::format("{}, divided by {:.4g}", what, *divisor),
           [by, divisor](const Rows& all, const TableRow& row) { return by(all, row, *divisor); },
           usual.back().name, by_workers});
    }
  }
  usual.insert(usual.end(), constant.begin(), constant.end());
  return usual;
}

std::optional<Range> cost_of_time(const Rows&, const TableRow& row) {
  const auto price = Rows::figure(row, "price_per_hour"), seconds = Rows::figure(row, "makespan_seconds");
  if (!price || !seconds) return {};
  return (1 / 3600.0) * (*price * *seconds);
}

std::optional<Range> saving(const Rows& rows, const TableRow& row) {
  const auto cost = Rows::figure(row, "cost_per_training");
  for (const TableRow& first : rows) {
    const auto reference = Rows::figure(first, "cost_per_training");
    if (first.measurement.system != row.measurement.system ||
        first.measurement.machine != row.measurement.machine || !reference)
      continue;
    if (!cost || &first == &row) return {};
    return 100 * one_minus(*cost / *reference);
  }
  return {};
}

}  // namespace

std::optional<Range> Rows::figure(const TableRow& row, std::string_view column) {
  const Printed* p = row.find(column);
  if (p == nullptr || p->value - p->half_unit <= 0) return {};
  return Range{p->value, p->value - p->half_unit, p->value + p->half_unit};
}

Rows::Rows(std::span<const TableRow> rows) : rows_(rows) {
  for (const TableRow& row : rows_) {
    const Coordinates at = coordinates(row.measurement);
    const auto [place, is_new] = places_.try_emplace(at, configurations_.size());
    if (is_new) configurations_.push_back({at, {}});
    configurations_[place->second].rows.push_back(&row);
  }
}

std::vector<Range> Rows::figures(const Coordinates& at, std::string_view column) const {
  std::vector<Range> all;
  const auto place = places_.find(at);
  if (place == places_.end()) return all;
  for (const TableRow* row : configurations_[place->second].rows) {
    if (const auto one = figure(*row, column)) all.push_back(*one);
  }
  return all;
}

std::optional<Range> Rows::mean(const Coordinates& at, std::string_view column) const {
  const std::vector<Range> all = figures(at, column);
  if (all.empty()) return {};
  Range sum;
  for (const Range& one : all) sum = {sum.value + one.value, sum.low + one.low, sum.high + one.high};
  return (1 / static_cast<double>(all.size())) * sum;
}

Statistics Rows::statistics(const Coordinates& at, std::string_view column) const {
  std::vector<double> values;
  for (const Range& one : figures(at, column)) values.push_back(one.value);
  return values.empty() ? Statistics{} : summarize(values);
}

const TableRow* Rows::base(const TableRow& row, std::string_view column) const {
  const Coordinates at = coordinates(row.measurement);
  const auto [known, is_new] = bases_.try_emplace({at, std::string(column)}, nullptr);
  if (is_new) known->second = find_base(at, column);
  return known->second;
}

const TableRow* Rows::find_base(const Coordinates& at, std::string_view column) const {
  const auto measured = [&](const TableRow* row) { return figure(*row, column).has_value(); };
  const ConfigurationRows* const configuration = base_among(
      std::span(configurations_), at,
      [](const ConfigurationRows& other) -> const Coordinates& { return other.at; },
      [&](const ConfigurationRows& other) { return std::ranges::any_of(other.rows, measured); });
  return configuration == nullptr ? nullptr : *std::ranges::find_if(configuration->rows, measured);
}

std::optional<Range> Rows::speedup(const TableRow& row, std::string_view column) const {
  const TableRow* first = base(row, column);
  if (first == nullptr) return {};
  const Coordinates at = coordinates(row.measurement), from = coordinates(first->measurement);
  if (at == from) return Range{1, 1, 1};
  const auto t1 = mean(from, column), tn = mean(at, column);
  if (!t1 || !tn) return {};
  return *t1 / *tn;
}

double Rows::workers(const TableRow& row, std::string_view column) const {
  const auto own = static_cast<double>(coordinates(row.measurement).workers());
  const TableRow* first = base(row, column);
  const double from = first == nullptr ? 1 : static_cast<double>(coordinates(first->measurement).workers());
  return from == 0 ? 0 : own / from;
}

std::vector<Definition> definitions(std::string_view column, const Rows& rows) {
  using Derived = std::optional<Range>;
  if (column == "speedup") {
    return of_times("T1 / Tn", [](const Range& s, double) -> Derived { return s; });
  }
  if (column == "scaling_percent") {
    return of_times("100 T1 / (n Tn)", [](const Range& s, double p) -> Derived {
      if (p == 0) return {};
      return (100 / p) * s;
    });
  }
  if (column == "decrease_percent") {
    return of_times("100 (1 - Tn / T1)", [](const Range& s, double) -> Derived {
      return 100 * one_minus(Range{1, 1, 1} / s);
    });
  }
  if (column == "efficiency") return of_efficiency(rows);
  if (column == "cost_per_training") return {{"price of an hour x makespan", cost_of_time, {}, {}}};
  if (column == "cost_efficiency_percent")
    return {{"100 (1 - cost / cost of the system's first row)", saving, {}, {}}};
  return {};
}

}  // namespace convoke::study
