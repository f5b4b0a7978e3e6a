#include "convoke/study/analysis/fractions.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>

namespace convoke::study {
namespace {

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

std::vector<ScaledCurve> scaled_curves(std::span<const MeasuredConfiguration> configurations) {
  std::vector<ScaledCurve> curves;
  for (const MeasuredConfiguration& first : configurations) {
    if (std::ranges::any_of(curves, [&](const ScaledCurve& c) { return same_family(c.shared, first.at); })) {
      continue;
    }
    ScaledCurve curve = scaled_curve(all_fractions(first.at), configurations);
    if (curve.points.size() > 1) curves.push_back(std::move(curve));
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
