#include "convoke/study/analysis/scaling.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>

namespace convoke::study {
namespace {

bool same_curve(const Coordinates& a, const Coordinates& b) { return same_work(a, b) && same_family(a, b); }

ScalingPoint point_of(const Coordinates& at, const Coordinates& base, Ratio speedup, std::int64_t devices) {
  ScalingPoint point;
  point.at = at;
  point.speedup = speedup;
  Ratio inverted = speedup;  // 1 / S is a monotone function of it
  if (inverted.interval && inverted.interval->low <= 0) inverted.interval.reset();
  point.decrease_percent = transformed(inverted, [](double s) { return 100 * (1 - 1 / s); });
  if (devices > 0) point.machine_efficiency = speedup.value / static_cast<double>(devices);
  if (at.workers() == 0 || base.workers() == 0) return point;
  const double p = static_cast<double>(at.workers()) / static_cast<double>(base.workers());
  point.efficiency = transformed(speedup, [&](double s) { return s / p; });
  if (p > 1)
    point.karp_flatt = transformed(inverted, [&](double s) { return (1 / s - 1 / p) / (1 - 1 / p); });
  return point;
}

// Only points without oversubscription.
void fit_law(Curve& curve, std::span<const TimesAt> times, const ScalingOptions& options) {
  if (curve.base.workers() == 0) return;
  const std::optional<AmdahlFit> fit = AmdahlFit::of(times);
  if (fit && fit->sequential_seconds().value <= 0) {
    curve.slows_down = true;
    return;
  }
  if (fit && fit->serial_fraction().value < 0) {
    curve.superlinear = fit->serial_fraction();
    return;
  }
  curve.amdahl = fit;
  if (!curve.amdahl || options.up_to < 1) return;
  for (std::int64_t n = 1; n < options.up_to; n *= 2) curve.predictions.push_back(curve.amdahl->at(n));
  curve.predictions.push_back(curve.amdahl->at(options.up_to));
}

// Returns the curve of measured times; without points if there is no base to compare with.
Curve measured_curve(const Coordinates& at, std::span<const MeasuredConfiguration> configurations,
                     const ScalingOptions& options) {
  Curve curve{.shared = on_any_ranks(at)};
  for (const Quantity& quantity : {kQuantities[0], kQuantities[1]}) {  // makespan, time per epoch
    const MeasuredConfiguration* base = base_among(
        configurations, at, [](const MeasuredConfiguration& configuration) { return configuration.at; },
        [&](const MeasuredConfiguration& configuration) {
          return configuration.find(quantity.name) != nullptr;
        });
    if (base == nullptr || base->find(quantity.name)->mean <= 0) continue;
    std::vector<const MeasuredConfiguration*> members{base};
    for (const MeasuredConfiguration& configuration : configurations) {
      const Statistics* seconds = configuration.find(quantity.name);
      const bool comparable = configuration.at.workers() > 0 || base->at.workers() == 0;
      if (&configuration != base && comparable && same_curve(configuration.at, at) && seconds != nullptr &&
          seconds->mean > 0) {
        members.push_back(&configuration);
      }
    }
    if (members.size() < 2) continue;
    std::stable_sort(members.begin() + 1, members.end(),
                     [](const MeasuredConfiguration* a, const MeasuredConfiguration* b) {
                       return a->at.workers() < b->at.workers();
                     });
    curve.quantity = quantity.name;
    curve.base = base->at;
    std::vector<TimesAt> times;
    for (const MeasuredConfiguration* configuration : members) {
      const Statistics& seconds = *configuration->find(quantity.name);
      const Ratio speedup =
          configuration == base ? Ratio{.value = 1} : ratio(*base->find(quantity.name), seconds);
      ScalingPoint point = point_of(configuration->at, base->at, speedup, options.machine_devices);
      point.seconds = seconds;
      point.marks = point.marks_of_ratios = configuration->marks;
      add_marks(point.marks_of_ratios, base->marks);
      curve.points.push_back(std::move(point));
      if (!is_oversubscribed(configuration->marks)) {
        times.push_back(
            {static_cast<double>(configuration->at.workers()), values_of(*configuration, quantity)});
        add_marks(curve.law_marks, configuration->marks);
      }
    }
    fit_law(curve, times, options);
    return curve;
  }
  return curve;
}

// Returns the curve of speed-ups, or decreases, that were published without times.
Curve published_curve(const Coordinates& at, std::span<const TableRow> rows, const ScalingOptions& options) {
  Curve curve{.shared = on_any_ranks(at)};
  curve.quantity = "published";
  curve.base = at;
  curve.base.ranks = curve.base.threads = 1;
  std::vector<TimesAt> times;
  const auto add = [&](const Coordinates& where, double speedup, const std::vector<std::string>& marks) {
    ScalingPoint point = point_of(where, curve.base, {.value = speedup}, options.machine_devices);
    point.marks = point.marks_of_ratios = marks;
    curve.points.push_back(std::move(point));
    if (is_oversubscribed(marks)) return;
    times.push_back({static_cast<double>(where.workers()), {1 / speedup}});
    add_marks(curve.law_marks, marks);
  };
  add(curve.base, 1, {});
  for (const TableRow& row : rows) {
    const Coordinates where = coordinates(row.measurement);
    const std::vector<std::string>& marks = row.measurement.marks;
    if (!same_curve(where, at) || where.workers() < 2 || row.measurement.has_mark("failed")) continue;
    if (const Printed* speedup = row.find("speedup"); speedup != nullptr && speedup->value > 0) {
      add(where, speedup->value, marks);
    } else if (const Printed* less = row.find("decrease_percent"); less != nullptr && less->value < 100) {
      add(where, 1 / (1 - less->value / 100), marks);
    }
  }
  std::ranges::stable_sort(curve.points, [](const ScalingPoint& a, const ScalingPoint& b) {
    return a.at.workers() < b.at.workers();
  });
  fit_law(curve, times, options);
  return curve;
}

FractionTable::Size size_of(const ScalingPoint& point) { return {point.at.ranks, point.at.threads}; }

Coordinates all_fractions(Coordinates at) {
  at.fraction = 1;
  return on_any_ranks(at);
}

// Keys of configurations of one family; only values that occur in two configurations or more are used.
ScaledCurve scaled_curve(const Coordinates& of, std::span<const MeasuredConfiguration> configurations) {
  ScaledCurve curve;
  curve.shared = of;
  for (const Quantity& quantity : {kQuantities[0], kQuantities[1]}) {
    std::vector<const MeasuredConfiguration*> family;
    for (const MeasuredConfiguration& configuration : configurations) {
      const Statistics* seconds = configuration.find(quantity.name);
      if (same_family(of, configuration.at) && configuration.at.workers() > 0 && seconds != nullptr &&
          seconds->mean > 0) {
        family.push_back(&configuration);
      }
    }
    std::ranges::stable_sort(family, [](const MeasuredConfiguration* a, const MeasuredConfiguration* b) {
      return std::tuple(a->at.workers(), a->at.fraction) < std::tuple(b->at.workers(), b->at.fraction);
    });
    curve.quantity = quantity.name;
    curve.points.clear();
    std::vector<TimesAt> times;
    for (const MeasuredConfiguration* configuration : family) {
      const MeasuredConfiguration& base = *family.front();
      const double p =
          static_cast<double>(configuration->at.workers()) / static_cast<double>(base.at.workers());
      if (std::abs(configuration->at.fraction / base.at.fraction / p - 1) > 1e-9) continue;
      curve.base = base.at;
      const Ratio ratio_of_times =
          configuration == &base ? Ratio{.value = 1}
                                 : ratio(*base.find(quantity.name), *configuration->find(quantity.name));
      curve.points.push_back({configuration->at, p,
                              transformed(ratio_of_times, [&](double q) { return p * q; }),
                              configuration->marks});
      add_marks(curve.points.back().marks, base.marks);
      if (is_oversubscribed(configuration->marks)) continue;
      times.push_back({p, values_of(*configuration, quantity)});
    }
    if (curve.points.size() < 2) continue;
    curve.gustafson = gustafson_serial_fraction(times);
    if (curve.gustafson && curve.gustafson->value < 0)
      curve.gustafson.reset();  // the law does not allow this
    break;
  }
  return curve;
}

}  // namespace

std::vector<Curve> scaling_curves(std::span<const MeasuredConfiguration> configurations,
                                  std::span<const TableRow> rows, const ScalingOptions& options) {
  std::vector<Curve> curves;
  std::vector<Coordinates> places, seen;
  for (const MeasuredConfiguration& configuration : configurations) places.push_back(configuration.at);
  for (const TableRow& row : rows) places.push_back(coordinates(row.measurement));
  for (const Coordinates& place : places) {
    if (std::ranges::any_of(seen, [&](const Coordinates& at) { return same_curve(at, place); })) continue;
    seen.push_back(place);
    Curve curve = measured_curve(place, configurations, options);
    if (curve.points.empty()) curve = published_curve(place, rows, options);
    if (curve.points.size() > 1) curves.push_back(std::move(curve));
  }
  return curves;
}

std::vector<ScaledCurve> scaled_curves(std::span<const MeasuredConfiguration> configurations) {
  std::vector<ScaledCurve> curves;
  for (const MeasuredConfiguration& first : configurations) {
    if (std::ranges::any_of(curves, [&](const ScaledCurve& c) { return same_family(c.shared, first.at); })) {
      continue;
    }
    ScaledCurve curve = scaled_curve(all_fractions(first.at), configurations);
    const bool grows = curve.points.size() > 1 && curve.points.back().workers > 1;
    if (grows) curves.push_back(std::move(curve));
  }
  return curves;
}

std::vector<FractionTable> fraction_tables(std::span<const Curve> curves) {
  std::vector<FractionTable> tables;
  for (const Curve& first : curves) {
    const auto same = [&](const auto& other) { return same_family(other.shared, first.shared); };
    if (std::ranges::any_of(tables, same)) continue;
    FractionTable table{.shared = all_fractions(first.shared)};
    for (const Curve& curve : curves) {
      if (!same(curve) || curve.base.workers() == 0) continue;
      table.fractions.push_back(curve.shared.fraction);
      for (const ScalingPoint& point : curve.points) table.sizes.push_back(size_of(point));
    }
    std::ranges::sort(table.sizes, [](const auto& a, const auto& b) {
      return std::pair(a.workers(), a.ranks) < std::pair(b.workers(), b.ranks);
    });
    table.sizes.erase(std::unique(table.sizes.begin(), table.sizes.end()), table.sizes.end());
    std::ranges::sort(table.fractions);
    if (table.fractions.size() < 2) continue;
    table.places.assign(table.fractions.size(),
                        std::vector<std::optional<FractionTable::Place>>(table.sizes.size()));
    for (std::size_t c = 0; c < curves.size(); ++c) {
      if (!same(curves[c]) || curves[c].base.workers() == 0) continue;
      const auto row = std::find(table.fractions.begin(), table.fractions.end(), curves[c].shared.fraction);
      for (std::size_t i = 0; i < curves[c].points.size(); ++i) {
        const auto column = std::find(table.sizes.begin(), table.sizes.end(), size_of(curves[c].points[i]));
        auto& place = table.places[static_cast<std::size_t>(row - table.fractions.begin())]
                                  [static_cast<std::size_t>(column - table.sizes.begin())];
        // A configuration whose members ran at once rather than an emulated one.
        if (!place || !curves[c].points[i].at.emulated) place = FractionTable::Place{c, i};
      }
    }
    tables.push_back(std::move(table));
  }
  return tables;
}

}  // namespace convoke::study
