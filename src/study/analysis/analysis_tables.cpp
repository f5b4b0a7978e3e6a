#include "convoke/study/analysis/analysis.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <span>
#include <string_view>

#include "convoke/core/text.hpp"
#include "study/analysis/table_parts.hpp"
#include "study/tables/columns.hpp"

namespace convoke::study {
namespace {

TextTable configuration_table(const Analysis& analysis) {
  TextTable table{
      "Configurations",
      "mean ± half the 95 % Student-t interval; error: half the interval / mean, of the makespan or the time "
      "per epoch",
      {"configuration", "runs", "makespan (s)", "median (s)", "error", "runs to add", "time per epoch (s)",
       "images/s", "accuracy (%)", "core-seconds", "energy (J)", "left out"}};
  for (const MeasuredConfiguration& configuration : analysis.configurations) {
    Row row{label(configuration), fmt::format("{}", configuration.runs.size()),
            mean_of(configuration, "makespan_seconds")};
    const Statistics* time = configuration.find("makespan_seconds");
    row.push_back(time == nullptr || time->count < 2 ? "" : number(time->median));
    if (time == nullptr) time = configuration.find("epoch_seconds");
    const bool known = time != nullptr && time->relative_error;
    row.push_back(known ? fmt::format("{:.1f} %", 100 * *time->relative_error) : "");
    const auto needed = known ? runs_needed(*time, analysis.relative_error) : std::nullopt;
    row.push_back(needed.value_or(0) > 0 ? fmt::format("{}", *needed) : "");
    row.push_back(mean_of(configuration, "epoch_seconds"));
    row.push_back(mean_of(configuration, "images_per_second"));
    row.push_back(mean_of(configuration, "accuracy", 100));
    row.push_back(mean_of(configuration, "core_seconds"));
    row.push_back(mean_of(configuration, "joules"));
    std::vector<std::string> left_out;
    if (configuration.failed > 0) left_out.push_back(fmt::format("{} failed", configuration.failed));
    if (configuration.contended > 0) left_out.push_back(fmt::format("{} contended", configuration.contended));
    row.push_back(join(left_out));
    table.rows.push_back(std::move(row));
  }
  return table;
}

// Adds a row of these quantities for each configuration that has one of them.
void add_rows(TextTable& table, const Analysis& analysis, std::span<const std::string_view> quantities,
              std::span<const double> factors = {}) {
  for (const MeasuredConfiguration& configuration : analysis.configurations) {
    Row row{label(configuration)};
    for (std::size_t q = 0; q < quantities.size(); ++q)
      row.push_back(mean_of(configuration, quantities[q], factors.empty() ? 1 : factors[q]));
    const bool any = std::any_of(row.begin() + 1, row.end(), [](const auto& text) { return !text.empty(); });
    if (any) table.rows.push_back(std::move(row));
  }
}

// The table of configurations has the test accuracy; this one appears if there is another score.
TextTable score_table(const Analysis& analysis) {
  TextTable table{
      "Scores",
      "training: of the last epoch, before each update; F1, quadratic kappa and ROC AUC: of the test "
      "samples; each seed counts once",
      {"configuration"}};
  std::vector<std::string_view> names;
  std::vector<double> factors;
  bool others = false;
  for (const Quantity& quantity : kQuantities) {
    if (quantity.kind != Quantity::Kind::kScore) continue;
    const bool percent = quantity.name.ends_with("accuracy");
    names.push_back(quantity.name);
    factors.push_back(percent ? 100 : 1);
    table.columns.push_back(std::string(quantity.title) + (percent ? " (%)" : ""));
    others = others || (quantity.name != "accuracy" &&
                        std::ranges::any_of(analysis.configurations, [&](const MeasuredConfiguration& c) {
                          return c.find(quantity.name) != nullptr;
                        }));
  }
  if (others) add_rows(table, analysis, names, factors);
  return table;
}

TextTable phase_table(const Analysis& analysis) {
  TextTable table{"Phases", "seconds, mean over the ranks", {"configuration"}};
  std::vector<std::string_view> names;
  for (const Quantity::Kind kind : {Quantity::Kind::kPhase, Quantity::Kind::kDetail}) {
    for (const Quantity& quantity : kQuantities) {
      if (quantity.kind != kind) continue;
      names.push_back(quantity.name);
      table.columns.emplace_back(quantity.title);
    }
  }
  add_rows(table, analysis, names);
  return table;
}

TextTable further_table(const Analysis& analysis) {
  TextTable table{"Further numbers", "from summary.json of the runs", {"configuration"}};
  std::set<std::string_view> names;
  for (const MeasuredConfiguration& configuration : analysis.configurations) {
    for (const auto& [name, statistics] : configuration.statistics) {
      if (name.starts_with(kFurtherPrefix)) names.insert(name);
    }
  }
  for (const std::string_view name : names) table.columns.emplace_back(name.substr(kFurtherPrefix.size()));
  add_rows(table, analysis, std::vector(names.begin(), names.end()));
  return table;
}

std::string p_text(double p) { return p < 0.0001 ? "< 0.0001" : format_fixed(p, 4); }

TextTable comparison_table(const Analysis& analysis) {
  TextTable table{"Differences",
                  "Welch's t-test of a - b; p of all tests of a quantity together by Holm",
                  {"a", "b", "quantity", "a - b", "95 % interval", "p", "p (Holm)"}};
  for (const Comparison& c : analysis.comparisons) {
    table.rows.push_back({label(analysis.configurations[c.a]), label(analysis.configurations[c.b]),
                          c.quantity, number(c.test.difference),
                          fmt::format("{} to {}", number(c.test.interval.low), number(c.test.interval.high)),
                          p_text(c.test.p), p_text(c.p_holm)});
  }
  return table;
}

std::string verdict_text(const EqualCost& v) {
  if (v.better.empty()) return "not significant";
  if (v.better == "unknown") return "single or equal runs";
  if (v.better == "dearer") return "synchronous, at higher cost";
  return v.better == "sync" ? "synchronous" : v.better;
}

TextTable equal_cost_table(const Analysis& analysis) {
  TextTable table{"Ensembles at equal core-seconds",
                  "compared with the most accurate synchronous configuration that costs at most 5 % more, "
                  "otherwise the cheapest; the difference with its 95 % interval (Welch)",
                  {"ensemble", "accuracy (%)", "core-seconds", "synchronous", "its accuracy (%)",
                   "its core-seconds", "difference (points)", "more accurate"}};
  for (const EqualCost& v : analysis.equal_cost) {
    const MeasuredConfiguration &ensemble = analysis.configurations[v.ensemble],
                                &sync = analysis.configurations[v.sync];
    const std::optional<Interval> ends =
        v.test ? std::optional(Interval{100 * v.test->interval.low, 100 * v.test->interval.high})
               : std::nullopt;
    table.rows.push_back({label(ensemble), mean_of(ensemble, "accuracy", 100),
                          mean_of(ensemble, "core_seconds"), label(sync), mean_of(sync, "accuracy", 100),
                          mean_of(sync, "core_seconds"), with_ends(100 * v.difference, ends, 2),
                          verdict_text(v)});
  }
  return table;
}

std::string lost_text(const Cost& c) {
  if (c.terms != "preemptible") return "";
  return c.restart_share > 0 || c.restart_seconds ? format_fixed(100 * c.restart_share, 1) : "unknown";
}

std::string restart_text(const Cost& c) {
  if (!c.restart_seconds) return "";
  return number(*c.restart_seconds) + (c.restart_measured ? ", measured" : "");
}

TextTable cost_table(const Analysis& analysis) {
  const std::string unit = analysis.currency.empty() ? "" : " (" + analysis.currency + ")";
  TextTable table{"Cost of one training",
                  "nodes x price of an hour x time; saved: % relative to the reference",
                  {"configuration", "machine", "terms", "nodes", "price of an hour" + unit, "time (s)",
                   "a restart (s)", "lost to restarts (%)", "cost" + unit, "saved (%)"}};
  for (const Cost& c : analysis.costs) {
    table.rows.push_back({label(c.at, analysis), c.machine, c.terms, fmt::format("{}", c.nodes),
                          number(c.price_per_hour), number(c.seconds), restart_text(c), lost_text(c),
                          with_error(c.cost, c.interval),
                          c.efficiency_percent ? format_fixed(*c.efficiency_percent, 2) : ""});
  }
  return table;
}

TextTable accuracy_table(const Analysis& analysis) {
  TextTable table{"Time to an accuracy",
                  "seconds of training until the first validation that reached it; for an ensemble, the mean "
                  "over its members",
                  {"configuration", "accuracy (%)", "reached by", "training time (s)"}};
  for (const TimeToAccuracy& t : analysis.times_to_accuracy) {
    table.rows.push_back({label(analysis.configurations[t.configuration]), number(100 * t.accuracy),
                          fmt::format("{} of {} runs", t.reached, t.runs),
                          t.seconds ? with_error(t.seconds->mean, t.seconds->interval) : ""});
  }
  return table;
}

TextTable recommendation_table(const Analysis& analysis) {
  TextTable table{"Recommended",
                  "",
                  {"curve", "ranks x threads", "time (s)", "core-hours", "accuracy (%)", "how", "wanted"}};
  for (const Recommendation& r : analysis.recommendations) {
    if (!r.possible) {
      table.rows.push_back({r.curve, "none", "", "", "", "", r.reason});
      continue;
    }
    table.rows.push_back({r.curve, marked(ranks_text(r.at), r.marks),
                          with_error(r.seconds, r.seconds_interval), number(r.core_seconds / 3600),
                          r.accuracy ? with_error(r.accuracy->mean, r.accuracy->interval, 100) : "",
                          r.predicted ? "predicted" : "measured", r.reason});
  }
  return table;
}

TextTable check_table(const Analysis& analysis) {
  TextTable table{"Published columns",
                  "derived again from other columns",
                  {"column", "definition", "figures", "as printed", "within rounding", "do not follow"}};
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

// A few verdicts are sentences; for many, their counts (the table has the details).
void add_verdicts(std::vector<std::string>& all, const Analysis& analysis) {
  constexpr std::size_t kFew = 3;
  const std::vector<EqualCost>& verdicts = analysis.equal_cost;
  if (verdicts.size() <= kFew) {
    for (const EqualCost& verdict : verdicts) {
      all.push_back("at equal core-seconds: " + sentence(verdict, analysis.configurations));
    }
    return;
  }
  const auto count = [&](std::string_view better) {
    return std::ranges::count_if(verdicts, [&](const EqualCost& v) { return v.better == better; });
  };
  const auto marked = std::ranges::count_if(verdicts, [&](const EqualCost& v) {
    return !analysis.configurations[v.ensemble].marks.empty() ||
           !analysis.configurations[v.sync].marks.empty();
  });
  const auto dearer = count("dearer");
  all.push_back(fmt::format(
      "at equal core-seconds: of {} ensembles{} {} more accurate than synchronous training, {} less "
      "accurate, {} without a significant difference{}",
      verdicts.size(), marked == 0 ? "" : fmt::format(" ({} MARKED)", marked),
      count("ensemble") == 1 ? "1 is" : fmt::format("{} are", count("ensemble")), count("sync"),
      count("") + count("unknown"),
      dearer == 0 ? ""
                  : fmt::format(", {} without an equally cheap synchronous configuration, but less accurate "
                                "than a more expensive one",
                                dearer)));
}

}  // namespace

std::vector<TextTable> tables(const Analysis& analysis) {
  std::vector<TextTable> all;
  add(all, configuration_table(analysis));
  add(all, score_table(analysis));
  add(all, phase_table(analysis));
  add(all, further_table(analysis));
  add_scaling_tables(all, analysis);
  add(all, comparison_table(analysis));
  add(all, equal_cost_table(analysis));
  if (analysis.replication) add(all, table_of(*analysis.replication));
  add(all, cost_table(analysis));
  add(all, accuracy_table(analysis));
  add(all, recommendation_table(analysis));
  add(all, check_table(analysis));
  return all;
}

std::vector<std::string> remarks(const Analysis& analysis) {
  std::vector<std::string> all = analysis.notices;
  if (!analysis.machine.empty()) all.push_back("all runs used one machine: " + analysis.machine);
  std::int64_t single = 0, equal = 0;
  for (const MeasuredConfiguration& configuration : analysis.configurations) {
    single += configuration.runs.size() == 1 ? 1 : 0;
    const Statistics* accuracy = configuration.find("accuracy");
    equal += accuracy != nullptr && accuracy->is_constant() ? 1 : 0;
    for (const auto& [name, statistics] : configuration.statistics) {
      const bool is_time = name == "makespan_seconds" || name == "epoch_seconds";
      if (is_time && statistics.is_constant()) {
        all.push_back(fmt::format(
            "{}: all {} runs have the same {}: the interval has zero width because of the resolution "
            "of the clock",
            to_string(configuration.at), statistics.count, name));
      }
    }
    if (configuration.runs.empty())
      all.push_back(fmt::format("{}: all runs failed", to_string(configuration.at)));
  }
  if (analysis.configurations.empty() && analysis.curves.empty() && analysis.audit.checks.empty())
    all.emplace_back("no row has a time, a speed-up or a decrease, so there is nothing to compute");
  if (single > 0) {
    all.push_back(fmt::format("{} of {} configurations {} one row only: no interval or test is possible",
                              single, analysis.configurations.size(), single == 1 ? "has" : "have"));
  }
  if (equal > 0) {
    all.push_back(fmt::format(
        "in {} of {} configurations all runs are equally accurate (one seed, or few test samples): the scatter is "
        "unknown, so other accuracies are not tested against them",
        equal, analysis.configurations.size()));
  }
  for (const Curve& curve : analysis.curves) {
    if (curve.base.workers() > 0) continue;
    all.push_back(fmt::format("{}: the number of ranks is unknown, so there is no efficiency",
                              to_string(curve.shared)));
  }
  for (const Curve& curve : analysis.curves) {
    if (curve.slows_down) {
      all.push_back(fmt::format(
          "{}: more workers take longer, and no time of one worker follows: no law applies, so nothing is "
          "predicted from them",
          to_string(curve.shared)));
    }
    if (!curve.superlinear) continue;
    all.push_back(fmt::format(
        "{}: the speed-up exceeds the number of workers (Amdahl's f would be {}): no law applies, so nothing "
        "is predicted from them",
        to_string(curve.shared), with_ends(curve.superlinear, 4)));
  }
  add_verdicts(all, analysis);
  if (analysis.replication) all.push_back(sentence(*analysis.replication));
  return all;
}

}  // namespace convoke::study
