#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <set>

#include "convoke/core/text.hpp"
#include "report/study/sections.hpp"

// Time, speed-up and efficiency over the workers, and over fractions of the data.

namespace convoke::report {
namespace {

std::string capital(std::string text) {
  text.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(text.front())));
  return text;
}

// Published ratios without times have curves, but no configurations.
std::set<double> published_fractions(const study::Analysis& analysis) {
  std::set<double> fractions;
  for (const study::Curve& curve : analysis.curves) {
    if (curve.quantity == "published") fractions.insert(curve.shared.fraction);
  }
  return fractions;
}

// Curves with this fraction of the samples.
std::vector<const study::Curve*> curves_with(double fraction, const study::Analysis& analysis,
                                             const std::string& quantity) {
  std::vector<const study::Curve*> curves;
  for (const study::Curve& curve : analysis.curves) {
    if (curve.shared.fraction == fraction && curve.quantity == quantity && curve.base.workers() > 0)
      curves.push_back(&curve);
  }
  return curves;
}

void add_scaling_of(Page& page, const std::vector<const study::Curve*>& curves, const ShortNames& names,
                    const std::string& what, const std::string& of) {
  Lines times, speedups, efficiencies, decreases, predictions;
  std::map<double, std::set<double>> workers_over;  // by workers of the base
  for (const study::Curve* curve : curves) {
    const std::string curve_name = names.curve(curve->shared);
    const bool several_threads = std::ranges::any_of(
        curve->points, [&](const study::ScalingPoint& p) { return p.at.threads != curve->base.threads; });
    // The same number of workers may be ranks or threads, so each number of threads has a line.
    const auto name_of = [&](const study::Coordinates& at) {
      return several_threads ? fmt::format("{}, {}", curve_name, counted(at.threads, "thread")) : curve_name;
    };
    const auto base = static_cast<double>(curve->base.workers());
    for (const study::ScalingPoint& point : curve->points) {
      const std::string name = name_of(point.at);
      const auto workers = static_cast<double>(point.at.workers());
      if (point.seconds)
        add_point(times, name, point.marks, {workers, point.seconds->mean, point.seconds->interval});
      add_point(speedups, name, point.marks_of_ratios,
                {workers, point.speedup.value, point.speedup.interval});
      workers_over[base].insert(workers);
      add_point(decreases, name, point.marks_of_ratios,
                {workers, point.decrease_percent.value, point.decrease_percent.interval});
      if (!point.efficiency) continue;
      const study::Ratio percent = study::transformed(*point.efficiency, [](double e) { return 100 * e; });
      add_point(efficiencies, name, point.marks_of_ratios, {workers, percent.value, percent.interval});
    }
    for (const study::Prediction& p : curve->predictions) {
      if (curve->quantity == "published") continue;
      add_point(predictions, curve_name, curve->law_marks,
                {static_cast<double>(p.workers), p.seconds, p.seconds_interval});
    }
  }
  std::set<double> all_workers;
  for (const auto& [base, over] : workers_over) {
    Line ideal{workers_over.size() == 1 ? "ideal" : fmt::format("ideal, over {:g} workers", base), {}};
    for (const double workers : over) ideal.points.push_back({workers, workers / base, std::nullopt});
    speedups.push_back(std::move(ideal));
    all_workers.insert(over.begin(), over.end());
  }
  Line ideal_efficiency{"ideal", {}};
  for (const double workers : all_workers) ideal_efficiency.points.push_back({workers, 100, std::nullopt});
  efficiencies.push_back(std::move(ideal_efficiency));
  std::vector<Chart> charts;
  if (!times.empty()) {
    charts.push_back(line_chart(capital(what) + " by workers",
                                "Means with 95 % intervals. Workers: ranks x threads." + of, "workers",
                                "seconds", times));
  }
  charts.push_back(line_chart("Speed-up by workers, " + what,
                              "Relative to the base of each curve, with 95 % intervals (Fieller).", "workers",
                              "speed-up", speedups));
  charts.push_back(line_chart("Efficiency by workers, " + what,
                              "Speed-up divided by the workers, relative to the base of each curve.",
                              "workers", "efficiency, %", efficiencies));
  charts.push_back(
      line_chart("Decrease of the time by workers, " + what,
                 "100 (1 - time / time of the base), with 95 % intervals (Fieller). Ideal: 50 % on "
                 "twice as many workers.",
                 "workers", "decrease, %", decreases));
  if (!predictions.empty()) {
    charts.push_back(line_chart("Predicted " + what,
                                "By Amdahl's law, with the 95 % prediction interval of a single run.",
                                "workers", "seconds", predictions));
    charts.back().logarithmic = true;
  }
  for (Chart& chart : charts) chart.of_workers = true;
  page.side_by_side(charts);
}

}  // namespace

void add_scaling(Page& page, const study::Analysis& analysis) {
  if (analysis.curves.empty()) return;
  page.section("Scaling");
  const auto add = [&](const char* quantity, const char* what, double fraction, const std::string& of) {
    const std::vector<const study::Curve*> curves = curves_with(fraction, analysis, quantity);
    if (!curves.empty())
      add_scaling_of(page, curves, ShortNames(whole_configurations(analysis), curves), what, of);
  };
  // Only the largest fraction of the samples; other fractions have a separate chart.
  const double largest = largest_fraction(analysis);
  add("makespan_seconds", "makespan", largest, of_fraction(analysis));
  add("epoch_seconds", "time per epoch", largest, of_fraction(analysis));
  const std::set<double> published = published_fractions(analysis);
  if (!published.empty()) add("published", "published figures", *published.rbegin(), of_fraction(published));
}

void add_fractions(Page& page, const study::Analysis& analysis) {
  if (analysis.fractions.empty()) return;
  page.section("Fractions of the data");
  const ShortNames names(whole_configurations(analysis));
  std::vector<Chart> charts;
  for (const study::FractionTable& table : analysis.fractions) {
    Lines lines;
    for (std::size_t w = 0; w < table.sizes.size(); ++w) {
      const auto& [ranks, threads] = table.sizes[w];
      const std::string name = threads == 1 ? counted(ranks, "rank") : fmt::format("{} x {}", ranks, threads);
      for (std::size_t p = 0; p < table.fractions.size(); ++p) {
        const auto& place = table.places[p][w];
        if (!place) continue;
        const study::ScalingPoint& point = analysis.curves[place->curve].points[place->point];
        if (point.seconds) {
          add_point(lines, name, point.marks,
                    {100 * table.fractions[p], point.seconds->mean, point.seconds->interval});
        }
      }
    }
    if (lines.empty()) continue;
    const std::string of = names.curve(table.shared);
    charts.push_back(line_chart("Time by fraction" + (of == "all" ? std::string() : ": " + of),
                                "Means with 95 % intervals.", "fraction of the samples, %", "seconds",
                                lines));
  }
  page.side_by_side(charts);
}

}  // namespace convoke::report
