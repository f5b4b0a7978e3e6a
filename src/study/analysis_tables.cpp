#include "convoke/study/analysis_tables.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "convoke/core/text.hpp"

namespace convoke::study {
namespace {

using Row = std::vector<std::string>;

std::string label(const Cell& cell) { return marked(to_string(cell.at), cell.marks); }

// Of coordinates that may have no cell: a prediction.
std::string label(const Coordinates& at, const Analysis& analysis) {
  const auto cell =
      std::find_if(analysis.cells.begin(), analysis.cells.end(), [&](const Cell& c) { return c.at == at; });
  return cell == analysis.cells.end() ? to_string(at) : label(*cell);
}

std::string of(const Cell& cell, std::string_view quantity, double factor = 1) {
  const Statistics* s = cell.find(quantity);
  return s == nullptr ? "" : with_error(s->mean, s->interval, factor);
}

std::string ranks_text(const Coordinates& at) {
  if (at.ranks == 0) return at.mode;
  return at.threads == 1 ? fmt::format("{}", at.ranks) : fmt::format("{} x {}", at.ranks, at.threads);
}

template <class Family>
std::string title_of(const Family& family, double portion = 1) {
  return to_string(Coordinates{family.system, family.mode, 0, 1, portion, family.batch, family.variant});
}

// " of net, sync"; nothing where nothing is named.
template <class Family>
std::string of_title(const Family& family, double portion = 1) {
  const std::string title = title_of(family, portion);
  return title == "all" ? "" : " of " + title;
}

// Adds the table without the columns in which nothing stands; none without rows.
void add(std::vector<TextTable>& all, TextTable table) {
  if (table.rows.empty()) return;
  for (std::size_t c = table.columns.size(); c-- > 0;) {
    if (std::any_of(table.rows.begin(), table.rows.end(), [&](const Row& row) { return !row[c].empty(); }))
      continue;
    table.columns.erase(table.columns.begin() + static_cast<std::ptrdiff_t>(c));
    for (Row& row : table.rows) row.erase(row.begin() + static_cast<std::ptrdiff_t>(c));
  }
  all.push_back(std::move(table));
}

TextTable cell_table(const Analysis& analysis) {
  TextTable table{
      "Cells",
      "mean ± half the 95 % Student-t interval; error: half the interval / mean, of the makespan or the time "
      "per epoch",
      {"cell", "runs", "makespan (s)", "median (s)", "error", "runs to add", "time per epoch (s)", "images/s",
       "accuracy (%)", "core-seconds", "energy (J)", "left out"},
      {}};
  for (const Cell& cell : analysis.cells) {
    Row row{label(cell), fmt::format("{}", cell.runs.size()), of(cell, "makespan_seconds")};
    const Statistics* time = cell.find("makespan_seconds");
    row.push_back(time == nullptr || time->count < 2 ? "" : number(time->median));
    if (time == nullptr) time = cell.find("epoch_seconds");
    const bool known = time != nullptr && time->relative_error;
    row.push_back(known ? fmt::format("{:.1f} %", 100 * *time->relative_error) : "");
    const auto needed = known ? runs_needed(*time, analysis.relative_error) : std::nullopt;
    row.push_back(needed.value_or(0) > 0 ? fmt::format("{}", *needed) : "");
    row.push_back(of(cell, "epoch_seconds"));
    row.push_back(of(cell, "images_per_second"));
    row.push_back(of(cell, "accuracy", 100));
    row.push_back(of(cell, "core_seconds"));
    row.push_back(of(cell, "joules"));
    std::vector<std::string> left_out;
    if (cell.failed > 0) left_out.push_back(fmt::format("{} failed", cell.failed));
    if (cell.disturbed > 0) left_out.push_back(fmt::format("{} disturbed", cell.disturbed));
    row.push_back(join(left_out));
    table.rows.push_back(std::move(row));
  }
  return table;
}

TextTable phase_table(const Analysis& analysis) {
  TextTable table{"Phases", "seconds, mean over the ranks", {"cell"}, {}};
  constexpr std::size_t kFirst = 6;  // of kQuantities
  for (std::size_t q = kFirst; q < kQuantities.size(); ++q) table.columns.emplace_back(kQuantities[q].title);
  for (const Cell& cell : analysis.cells) {
    Row row{label(cell)};
    for (std::size_t q = kFirst; q < kQuantities.size(); ++q) row.push_back(of(cell, kQuantities[q].name));
    if (std::any_of(row.begin() + 1, row.end(), [](const std::string& text) { return !text.empty(); })) {
      table.rows.push_back(std::move(row));
    }
  }
  return table;
}

std::string time_name(const std::string& quantity) {
  return quantity == "epoch_seconds" ? "time per epoch (s)" : "makespan (s)";
}

TextTable scaling_table(const Curve& curve) {
  const std::string source =
      curve.quantity == "published" ? "from published figures" : "of " + curve.quantity;
  TextTable table{
      "Scaling" + of_title(curve, curve.portion),
      fmt::format("{}; base: {}; intervals of quotients are Fieller's, 95 %", source, to_string(curve.base)),
      {"ranks x threads", time_name(curve.quantity), "speed-up", "efficiency", "efficiency over the machine",
       "scaling (%)", "decrease (%)", "Karp-Flatt"},
      {}};
  for (const ScalingPoint& point : curve.points) {
    std::string scaling;
    if (point.efficiency) scaling = format_fixed(100 * point.efficiency->value, 2);
    table.rows.push_back({marked(ranks_text(point.at), point.marks),
                          point.seconds ? with_error(point.seconds->mean, point.seconds->interval) : "",
                          with_ends(point.speedup, 4), with_ends(point.efficiency, 4),
                          point.machine_efficiency ? format_fixed(*point.machine_efficiency, 4) : "", scaling,
                          with_ends(point.decrease_percent, 2), with_ends(point.karp_flatt, 4)});
  }
  return table;
}

void add_portions(std::vector<TextTable>& all, const PortionTable& portions, const Analysis& analysis) {
  const auto add_one = [&](const std::string& what, const std::string& note, auto&& text) {
    TextTable table{what + " by portion and workers" + of_title(portions), note, {"portion"}, {}};
    for (const std::int64_t workers : portions.workers) table.columns.push_back(fmt::format("{}", workers));
    for (std::size_t r = 0; r < portions.portions.size(); ++r) {
      Row row{portion_text(portions.portions[r])};
      for (const auto& place : portions.places[r]) {
        if (!place) {
          row.emplace_back();
          continue;
        }
        const ScalingPoint& point = analysis.curves[place->curve].points[place->point];
        const std::string cell = text(point);
        row.push_back(cell.empty() ? cell : marked(cell, point.marks));
      }
      table.rows.push_back(std::move(row));
    }
    const bool any = std::any_of(table.rows.begin(), table.rows.end(), [](const Row& row) {
      return std::any_of(row.begin() + 1, row.end(), [](const std::string& cell) { return !cell.empty(); });
    });
    if (any) all.push_back(std::move(table));
  };
  add_one("Time (s)", "the TPU paper's table 6", [](const ScalingPoint& p) {
    return p.seconds ? with_error(p.seconds->mean, p.seconds->interval) : std::string();
  });
  add_one("Acceleration", "the TPU paper's table 7",
          [](const ScalingPoint& p) { return with_ends(p.speedup, 4); });
  add_one("Efficiency", "speed-up / workers",
          [](const ScalingPoint& p) { return with_ends(p.efficiency, 4); });
  add_one("Efficiency over the machine", "speed-up / devices of the machine, the TPU paper's table 8",
          [](const ScalingPoint& p) {
            return p.machine_efficiency ? format_fixed(*p.machine_efficiency, 4) : std::string();
          });
}

std::string fraction(const std::optional<Estimate>& estimate) {
  return estimate ? with_ends(estimate->value, estimate->interval, 4) : "";
}

TextTable law_table(const Analysis& analysis) {
  TextTable table{"Laws",
                  "Amdahl: T(n) = T1 (f + (1 - f) / n), the scatter in proportion to the time; Gustafson: "
                  "S(n) = n - s (n - 1)",
                  {"curve", "T1 (s)", "Amdahl's f", "speed-up at most", "Gustafson's s"},
                  {}};
  for (const Curve& curve : analysis.curves) {
    if (!curve.amdahl) continue;
    const Estimate &t1 = curve.amdahl->sequential_seconds(), &f = curve.amdahl->serial_fraction();
    table.rows.push_back({title_of(curve, curve.portion),
                          curve.quantity == "published" ? "" : with_error(t1.value, t1.interval), fraction(f),
                          f.value > 0 ? fmt::format("{:.1f}", 1 / f.value) : "no limit",
                          fraction(curve.gustafson)});
  }
  return table;
}

TextTable scaled_table(const Analysis& analysis) {
  TextTable table{"Work that grows with the workers",
                  "portion in proportion to the workers; speed-up of the scaled work: p T1 / Tp",
                  {"cell", "workers", "scaled speed-up", "Gustafson's s of the curve"},
                  {}};
  for (const ScaledCurve& curve : analysis.scaled) {
    for (const ScaledPoint& point : curve.points) {
      table.rows.push_back({label(point.at, analysis), number(point.workers), with_ends(point.speedup, 4),
                            &point == &curve.points.back() ? fraction(curve.gustafson) : ""});
    }
  }
  return table;
}

TextTable prediction_table(const Analysis& analysis) {
  TextTable table{"Predicted by Amdahl's law",
                  "95 % prediction interval of one run",
                  {"curve", "workers", "time (s)", "speed-up", "efficiency"},
                  {}};
  for (const Curve& curve : analysis.curves) {
    for (const Prediction& p : curve.predictions) {
      table.rows.push_back({title_of(curve, curve.portion), fmt::format("{}", p.workers),
                            curve.quantity == "published" ? "" : with_error(p.seconds, p.seconds_interval),
                            format_fixed(p.speedup, 2),
                            format_fixed(p.speedup / static_cast<double>(p.workers), 4)});
    }
  }
  return table;
}

std::string p_text(double p) { return p < 0.0001 ? "< 0.0001" : format_fixed(p, 4); }

TextTable comparison_table(const Analysis& analysis) {
  TextTable table{"Differences",
                  "Welch's t-test of a - b; p of all tests of a quantity together by Holm",
                  {"a", "b", "quantity", "a - b", "95 % interval", "p", "p (Holm)"},
                  {}};
  for (const Comparison& c : analysis.comparisons) {
    table.rows.push_back({label(analysis.cells[c.a]), label(analysis.cells[c.b]), c.quantity,
                          number(c.test.difference),
                          fmt::format("{} to {}", number(c.test.interval.low), number(c.test.interval.high)),
                          p_text(c.test.p), p_text(c.p_holm)});
  }
  return table;
}

TextTable cost_table(const Analysis& analysis) {
  TextTable table{"Cost of one training",
                  "nodes x price of an hour x time; saved: against the reference, %",
                  {"cell", "machine", "terms", "nodes", "price of an hour", "time (s)",
                   "lost to restarts (%)", "cost", "saved (%)"},
                  {}};
  for (const Cost& c : analysis.costs) {
    table.rows.push_back(
        {label(c.at, analysis), c.machine, c.terms, fmt::format("{}", c.nodes), number(c.price_per_hour),
         number(c.seconds), c.terms == "preemptible" ? format_fixed(100 * c.restart_share, 1) : "",
         with_error(c.cost, c.interval), c.efficiency_percent ? format_fixed(*c.efficiency_percent, 2) : ""});
  }
  return table;
}

TextTable accuracy_table(const Analysis& analysis) {
  TextTable table{"Time to an accuracy",
                  "seconds of training until the first validation that reached it; of an ensemble, the mean "
                  "of its members",
                  {"cell", "accuracy (%)", "reached by", "training time (s)"},
                  {}};
  for (const TimeToAccuracy& t : analysis.times_to_accuracy) {
    table.rows.push_back({label(analysis.cells[t.cell]), number(100 * t.accuracy),
                          fmt::format("{} of {} runs", t.reached, t.runs),
                          t.seconds ? with_error(t.seconds->mean, t.seconds->interval) : ""});
  }
  return table;
}

TextTable recommendation_table(const Analysis& analysis) {
  TextTable table{"Recommended",
                  "",
                  {"curve", "ranks x threads", "time (s)", "core-hours", "accuracy (%)", "how", "wanted"},
                  {}};
  for (const Recommendation& r : analysis.recommendations) {
    if (!r.possible) {
      table.rows.push_back({r.curve, "none", "", "", "", "", r.reason});
      continue;
    }
    table.rows.push_back({r.curve, ranks_text(r.at), with_error(r.seconds, r.seconds_interval),
                          number(r.core_seconds / 3600), r.accuracy ? format_fixed(100 * *r.accuracy, 2) : "",
                          r.predicted ? "predicted" : "measured", r.reason});
  }
  return table;
}

TextTable check_table(const Analysis& analysis) {
  TextTable table{"Published columns",
                  "derived again from the others",
                  {"column", "definition", "figures", "as printed", "within rounding", "do not follow"},
                  {}};
  const std::vector<Check>& checks = analysis.audit.checks;
  for (auto first = checks.begin(); first != checks.end();) {
    const auto last =
        std::find_if(first, checks.end(), [&](const Check& c) { return c.column != first->column; });
    const auto count = [&](Agreement agreement) {
      return fmt::format(
          "{}", std::count_if(first, last, [&](const Check& c) { return c.agreement == agreement; }));
    };
    table.rows.push_back({first->column, first->definition, fmt::format("{}", last - first),
                          count(Agreement::kPrinted), count(Agreement::kRounding),
                          count(Agreement::kDifferent)});
    first = last;
  }
  return table;
}

}  // namespace

std::vector<TextTable> tables(const Analysis& analysis) {
  std::vector<TextTable> all;
  add(all, cell_table(analysis));
  add(all, phase_table(analysis));
  for (const Curve& curve : analysis.curves) add(all, scaling_table(curve));
  for (const PortionTable& portions : analysis.portions) add_portions(all, portions, analysis);
  add(all, law_table(analysis));
  add(all, scaled_table(analysis));
  add(all, prediction_table(analysis));
  add(all, comparison_table(analysis));
  add(all, cost_table(analysis));
  add(all, accuracy_table(analysis));
  add(all, recommendation_table(analysis));
  add(all, check_table(analysis));
  return all;
}

std::vector<std::string> remarks(const Analysis& analysis) {
  std::vector<std::string> all = analysis.notices;
  std::int64_t single = 0;
  for (const Cell& cell : analysis.cells) {
    single += cell.runs.size() == 1 ? 1 : 0;
    for (const auto& [name, statistics] : cell.statistics) {
      const bool is_time = name == "makespan_seconds" || name == "epoch_seconds";
      if (is_time && statistics.is_constant()) {
        all.push_back(fmt::format(
            "{}: all {} runs have the same {}: the interval has no width, which says more of the clock "
            "than of the runs",
            to_string(cell.at), statistics.count, name));
      }
    }
    if (cell.runs.empty()) all.push_back(fmt::format("{}: every run has failed", to_string(cell.at)));
  }
  if (single > 0) {
    all.push_back(fmt::format("{} of {} cells {} one row only: no interval, and no test, can be made of it",
                              single, analysis.cells.size(), single == 1 ? "has" : "have"));
  }
  for (const Curve& curve : analysis.curves) {
    if (curve.base.workers() > 0) continue;
    all.push_back(fmt::format("{}: the number of ranks is not said, so there is no efficiency",
                              title_of(curve, curve.portion)));
  }
  for (const EqualCost& verdict : analysis.equal_cost) {
    all.push_back("at equal core-seconds: " + sentence(verdict, analysis.cells));
  }
  return all;
}

}  // namespace convoke::study
