#include "study/analysis/table_parts.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "convoke/core/text.hpp"

namespace convoke::study {
namespace {

// Returns " of net, sync"; empty without a name.
std::string of_title(const Coordinates& shared) {
  const std::string title = to_string(shared);
  return title == "all" ? "" : " of " + title;
}

std::string time_name(const std::string& quantity) {
  return quantity == "epoch_seconds" ? "time per epoch (s)" : "makespan (s)";
}

TextTable scaling_table(const Curve& curve) {
  const std::string source =
      curve.quantity == "published" ? "from published figures" : "of " + curve.quantity;
  TextTable table{
      "Scaling" + of_title(curve.shared),
      fmt::format("{}; base: {}; intervals of quotients are Fieller's, 95 %", source, to_string(curve.base)),
      {"ranks x threads", time_name(curve.quantity), "speed-up", "efficiency", "efficiency over the machine",
       "scaling (%)", "decrease (%)", "Karp-Flatt"}};
  for (const ScalingPoint& point : curve.points) {
    std::string scaling;
    if (point.efficiency) scaling = format_fixed(100 * point.efficiency->value, 2);
    table.rows.push_back({marked(ranks_text(point.at), point.marks_of_ratios),
                          point.seconds ? with_error(point.seconds->mean, point.seconds->interval) : "",
                          with_ends(point.speedup, 4), with_ends(point.efficiency, 4),
                          point.machine_efficiency ? format_fixed(*point.machine_efficiency, 4) : "", scaling,
                          with_ends(point.decrease_percent, 2), with_ends(point.karp_flatt, 4)});
  }
  return table;
}

void add_fractions(std::vector<TextTable>& all, const FractionTable& fractions, const Analysis& analysis) {
  const auto add_one = [&](const std::string& what, const std::string& note, auto&& text,
                           bool of_time = false) {
    TextTable table{what + " by fraction and workers" + of_title(fractions.shared), note, {"fraction"}};
    for (const FractionTable::Size& size : fractions.sizes) {
      table.columns.push_back(ranks_text({"", "", size.ranks, size.threads, 1, "", ""}));
    }
    for (std::size_t r = 0; r < fractions.fractions.size(); ++r) {
      Row row{fraction_text(fractions.fractions[r])};
      for (const auto& place : fractions.places[r]) {
        if (!place) {
          row.emplace_back();
          continue;
        }
        const ScalingPoint& point = analysis.curves[place->curve].points[place->point];
        const std::string cell = text(point);
        row.push_back(cell.empty() ? cell : marked(cell, of_time ? point.marks : point.marks_of_ratios));
      }
      table.rows.push_back(std::move(row));
    }
    const bool any = std::ranges::any_of(table.rows, [](const Row& row) {
      return std::any_of(row.begin() + 1, row.end(), [](const std::string& cell) { return !cell.empty(); });
    });
    if (any) all.push_back(std::move(table));
  };
  add_one(
      "Time (s)", "the TPU paper's table 6",
      [](const ScalingPoint& p) {
        return p.seconds ? with_error(p.seconds->mean, p.seconds->interval) : std::string();
      },
      true);
  add_one("Acceleration", "the TPU paper's table 7",
          [](const ScalingPoint& p) { return with_ends(p.speedup, 4); });
  add_one("Efficiency", "speed-up / workers",
          [](const ScalingPoint& p) { return with_ends(p.efficiency, 4); });
  add_one("Efficiency over the machine", "speed-up / devices of the machine, the TPU paper's table 8",
          [](const ScalingPoint& p) {
            return p.machine_efficiency ? format_fixed(*p.machine_efficiency, 4) : std::string();
          });
}

// The configurations to which the law is fitted may have marks, which apply to all that follows from the law.
std::string law_title(const Curve& curve) { return marked(to_string(curve.shared), curve.law_marks); }

TextTable law_table(const Analysis& analysis) {
  TextTable table{"Amdahl's law",
                  "T(n) = T1 (f + (1 - f) / n), scatter proportional to the time",
                  {"curve", "T1 (s)", "Amdahl's f", "largest speed-up"}};
  for (const Curve& curve : analysis.curves) {
    if (!curve.amdahl) continue;
    const Estimate &t1 = curve.amdahl->sequential_seconds(), &f = curve.amdahl->serial_fraction();
    table.rows.push_back(
        {law_title(curve), curve.quantity == "published" ? "" : with_error(t1.value, t1.interval),
         with_ends(f, 4), f.value > 0 ? fmt::format("{:.1f}", std::max(1.0, 1 / f.value)) : "no limit"});
  }
  return table;
}

TextTable scaled_table(const Analysis& analysis) {
  TextTable table{
      "Work that grows with the workers",
      "fraction proportional to the workers; speed-up of the scaled work: p T1 / Tp; Gustafson's law: "
      "S(p) = p - s (p - 1), scatter proportional to the time",
      {"configuration", "workers", "scaled speed-up", "Gustafson's s of the curve"}};
  for (const ScaledCurve& curve : analysis.scaled) {
    for (const ScaledPoint& point : curve.points) {
      table.rows.push_back({marked(to_string(point.at), point.marks), number(point.workers),
                            with_ends(point.speedup, 4),
                            &point == &curve.points.back() ? with_ends(curve.gustafson, 4) : ""});
    }
  }
  return table;
}

TextTable prediction_table(const Analysis& analysis) {
  TextTable table{"Predicted by Amdahl's law",
                  "95 % prediction interval of one run",
                  {"curve", "workers", "time (s)", "speed-up", "efficiency"}};
  for (const Curve& curve : analysis.curves) {
    for (const Prediction& p : curve.predictions) {
      table.rows.push_back({law_title(curve), fmt::format("{}", p.workers),
                            curve.quantity == "published" ? "" : with_error(p.seconds, p.seconds_interval),
                            format_fixed(p.speedup, 2),
                            format_fixed(p.speedup / static_cast<double>(p.workers), 4)});
    }
  }
  return table;
}

}  // namespace

void add_scaling_tables(std::vector<TextTable>& all, const Analysis& analysis) {
  for (const Curve& curve : analysis.curves) add(all, scaling_table(curve));
  for (const FractionTable& fractions : analysis.fractions) add_fractions(all, fractions, analysis);
  add(all, law_table(analysis));
  add(all, scaled_table(analysis));
  add(all, prediction_table(analysis));
}

}  // namespace convoke::study
