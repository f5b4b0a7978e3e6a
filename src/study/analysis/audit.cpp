#include "convoke/study/analysis/audit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <tuple>

#include "convoke/core/text.hpp"
#include "study/analysis/derivation.hpp"

namespace convoke::study {
namespace {

// Returns the coordinates of a row as text.
std::string name_of(const TableRow& row) { return to_string(coordinates(row.measurement)); }

Agreement agreement(const Printed& printed, const Range& derived) {
  const double half =
      printed.half_unit + 1e-9 * std::max(1.0, std::abs(printed.value));  // tolerance for binary fractions
  if (std::abs(derived.value - printed.value) <= half) return Agreement::kPrinted;
  const Range range{printed.value, printed.value - half, printed.value + half};
  return overlap(range, derived) ? Agreement::kRounding : Agreement::kDifferent;
}

// Formats a number with as many digits as were printed.
std::string like(const Printed& printed, double value) {
  return fmt::format("{:.{}f}", value, std::min(digits_of(printed.half_unit), 9));
}

std::vector<Check> checks_by(const Definition& definition, std::string_view column, const Rows& rows) {
  std::vector<Check> checks;
  for (const TableRow& row : rows) {
    const Printed* printed = row.find(column);
    const auto derived = printed == nullptr ? std::nullopt : definition.derive(rows, row);
    if (!derived) continue;
    checks.push_back({row.where, name_of(row), std::string(column), definition.name, printed->value,
                      derived->value, agreement(*printed, *derived)});
  }
  return checks;
}

// Describes a figure that does not follow: the derived value, and another definition that gives the printed
// one.
AuditFinding contradiction(const Check& check, const Definition& best, const std::vector<Definition>& all,
                           const Rows& rows, const TableRow& row) {
  const Printed& printed = *row.find(check.column);
  std::string text = fmt::format("{} is printed, but {} gives {}", like(printed, printed.value), best.name,
                                 like(printed, check.derived));
  for (const Definition& other : all) {
    const auto derived = &other == &best ? std::nullopt : other.derive(rows, row);
    if (!derived) continue;
    text += fmt::format(
        "; {} gives {}{}", other.name, like(printed, derived->value),
        agreement(printed, *derived) == Agreement::kDifferent ? "" : ", which is the printed value");
  }
  return {true, fmt::format("{} of {}", check.column, check.row), text};
}

// Describes a column that follows from an unusual definition.
AuditFinding unusual(std::string_view column, const Definition& definition, const Rows& rows) {
  constexpr std::size_t kExamples = 4;
  std::vector<std::string> examples;
  for (const TableRow& row : rows) {
    const Printed* printed = row.find(column);
    const auto usual = printed == nullptr ? std::nullopt : definition.usual(rows, row);
    if (!usual || agreement(*printed, *usual) != Agreement::kDifferent || examples.size() == kExamples)
      continue;
    examples.push_back(fmt::format("{} instead of {} for {}", like(*printed, usual->value),
                                   like(*printed, printed->value), name_of(row)));
  }
  std::string text = fmt::format("is {} in every row", definition.name);
  if (!examples.empty()) text += fmt::format("; {} gives {}", definition.usual_name, join(examples, "; "));
  return {!examples.empty(), std::string(column), text};
}

// Checks a column by the definition that fits most of it; among equals by the one with the most exact
// figures, and then by the first.
void check_column(std::string_view column, const Rows& rows, Audit& audit) {
  const std::vector<Definition> all = definitions(column, rows);
  const Definition* best = nullptr;
  std::vector<Check> checks;
  std::tuple<std::int64_t, std::int64_t> most{-1, -1};
  for (const Definition& definition : all) {
    std::vector<Check> candidate = checks_by(definition, column, rows);
    const auto exact = std::ranges::count(candidate, Agreement::kPrinted, &Check::agreement);
    const auto rounded = std::ranges::count(candidate, Agreement::kRounding, &Check::agreement);
    if (candidate.empty() || std::tuple(exact + rounded, exact) <= most) continue;
    most = {exact + rounded, exact};
    best = &definition;
    checks = std::move(candidate);
  }
  if (best == nullptr) return;
  auto check = checks.begin();  // in the order of the rows, of which some have none
  for (const TableRow& row : rows) {
    if (check == checks.end() || check->where != row.where) continue;
    if (check->agreement == Agreement::kDifferent)
      audit.findings.push_back(contradiction(*check, *best, all, rows, row));
    ++check;
  }
  if (best->usual) audit.findings.push_back(unusual(column, *best, rows));
  audit.checks.insert(audit.checks.end(), checks.begin(), checks.end());
}

constexpr std::string_view kMean = "mean_over_ranks_seconds", kMakespan = "makespan_seconds";

// The speed-up that a row claims.
struct ClaimedSpeedup {
  Range speedup;
  std::string text;         // "a decrease of 82.72 %"
  std::string_view column;  // whose base it is relative to
};

// Repeats scatter: for measured times, the lower end of the interval must exceed the number of workers.
Range with_scatter(Range speedup, const Rows& rows, const TableRow& row, std::string_view column) {
  const TableRow* base = rows.base(row, column);
  if (base == nullptr) return speedup;
  const Statistics a = rows.statistics(coordinates(base->measurement), column),
                   b = rows.statistics(coordinates(row.measurement), column);
  if (a.count < 2 || b.count < 2) return speedup;
  const Ratio quotient = ratio(a, b);
  if (quotient.interval) speedup.low = std::min(speedup.low, quotient.interval->low);
  return speedup;
}

std::vector<ClaimedSpeedup> claims_of(const Rows& rows, const TableRow& row) {
  std::vector<ClaimedSpeedup> claims;
  const std::string_view published = rows.base(row, kMakespan) != nullptr ? kMakespan : "epoch_seconds";
  if (const auto decrease = Rows::figure(row, "decrease_percent"); decrease && decrease->high < 100) {
    claims.push_back({Range{1, 1, 1} / one_minus(0.01 * *decrease),
                      fmt::format("a decrease of {:.4g} %", decrease->value), published});
  }
  if (const auto speedup = Rows::figure(row, "speedup"))
    claims.push_back({*speedup, "a printed speed-up", published});
  for (const TimeColumn& time : kTimes) {
    if (const auto speedup = rows.speedup(row, time.column)) {
      claims.push_back(
          {with_scatter(*speedup, rows, row, time.column), std::string(time.plural), time.column});
    }
  }
  return claims;
}

// Finds means over ranks next to makespans: how much faster the means make the job look.
std::vector<AuditFinding> means_over_ranks(const Rows& rows) {
  std::vector<AuditFinding> findings;
  for (const TableRow& row : rows) {
    const auto mean = Rows::figure(row, kMean), slowest = Rows::figure(row, kMakespan);
    if (!mean || !slowest || mean->high >= slowest->low) continue;
    std::string text = fmt::format(
        "the mean over the ranks is {:.4g} s, but the job ends with the slowest rank, after {:.4g} s: a mean "
        "over ranks is not a makespan",
        mean->value, slowest->value);
    const auto looks = rows.speedup(row, kMean), is = rows.speedup(row, kMakespan);
    if (looks && is) {
      text += fmt::format(
          "; with it the speed-up would be {:.2f} instead of {:.2f}, the decrease {:.1f} % instead of {:.1f} "
          "%",
          looks->value, is->value, 100 * (1 - 1 / looks->value), 100 * (1 - 1 / is->value));
    }
    findings.push_back({true, fmt::format("{} of {}", kMean, name_of(row)), text});
  }
  return findings;
}

// Finds speed-ups, measured or published, above the number of workers, and equivalent decreases: one finding
// for each system, mode and kind of claim.
std::vector<AuditFinding> impossible_speedups(const Rows& rows) {
  struct Group {
    std::vector<std::string> workers;
    std::string worst;
    double excess = 0;
  };
  std::map<std::string, Group> groups;
  for (const TableRow& row : rows) {
    Coordinates at = coordinates(row.measurement);
    for (const ClaimedSpeedup& claim : claims_of(rows, row)) {
      const double p = rows.workers(row, claim.column);
      if (p <= 1 || claim.speedup.low <= p) continue;
      at.ranks = 0;
      Group& group = groups[to_string(at)];
      const std::string workers = fmt::format("{:g}", p);
      if (std::ranges::find(group.workers, workers) == group.workers.end()) group.workers.push_back(workers);
      if (claim.speedup.value / p <= group.excess) continue;
      group.excess = claim.speedup.value / p;
      group.worst = fmt::format(
          "by {} {:.2f} times faster on {:g} workers, but sharing the work gives at most {:g} times, a "
          "decrease of {:.4g} %",
          claim.text, claim.speedup.value, p, p, 100 * (1 - 1 / p));
    }
  }
  std::vector<AuditFinding> findings;
  for (const auto& [name, group] : groups) {
    findings.push_back(
        {true, fmt::format("speed-up of {} on {} workers", name, join(group.workers)),
         fmt::format(
             "exceeds the number of workers ({}): either the time is not the makespan (a mean over ranks?), "
             "or each worker did less work (a smaller share for fewer steps), or the sequential "
             "run was slower for another reason",
             group.worst)});
  }
  return findings;
}

// Finds preemptible machines that take as long as those on demand.
std::vector<AuditFinding> free_preemptions(const Rows& rows) {
  constexpr std::array<std::string_view, 2> kWords{" preemptible", " spot"};
  std::vector<AuditFinding> findings;
  const auto hours = [](const TableRow& row) -> std::optional<Range> {
    const auto cost = Rows::figure(row, "cost_per_training"), price = Rows::figure(row, "price_per_hour");
    if (!cost || !price) return {};
    return *cost / *price;
  };
  for (const TableRow& row : rows) {
    for (const std::string_view word : kWords) {
      if (!row.measurement.mode.ends_with(word)) continue;
      const std::string other = row.measurement.mode.substr(0, row.measurement.mode.size() - word.size());
      const auto twin = std::ranges::find_if(rows, [&](const TableRow& r) {
        return r.measurement.system == row.measurement.system &&
               r.measurement.machine == row.measurement.machine && r.measurement.mode == other;
      });
      if (twin == rows.end() || !hours(row) || !hours(*twin) || !overlap(*hours(row), *hours(*twin)))
        continue;
      findings.push_back(
          {false, fmt::format("cost_per_training of {}", name_of(row)),
           fmt::format("corresponds to {:.0f} to {:.0f} s, the time that {} took ({:.0f} to {:.0f} s): it "
                       "includes no restart and no lost work",
                       3600 * hours(row)->low, 3600 * hours(row)->high, other, 3600 * hours(*twin)->low,
                       3600 * hours(*twin)->high)});
    }
  }
  return findings;
}

}  // namespace

std::string_view to_string(Agreement agreement) {
  constexpr std::array<std::string_view, 3> kNames{"as printed", "within rounding", "does not follow"};
  return kNames[static_cast<std::size_t>(agreement)];
}

Audit audit(std::span<const TableRow> table) {
  std::vector<TableRow> counting;  // counted as in the configurations: without failed runs, and without
                                   // contended ones if there are others
  for (const TableRow& row : table) {
    const Measurement& m = row.measurement;
    const auto has_others = [&] {
      return std::ranges::any_of(table, [&](const TableRow& other) {
        return !other.measurement.has_mark("contended") && !other.measurement.has_mark("failed") &&
               coordinates(other.measurement) == coordinates(m);
      });
    };
    if (!m.has_mark("failed") && !(m.has_mark("contended") && has_others())) counting.push_back(row);
  }
  const Rows rows(counting);
  Audit result;
  for (const std::string_view column : kDerivedColumns) check_column(column, rows, result);
  for (const auto suspicion : {means_over_ranks, impossible_speedups, free_preemptions}) {
    for (AuditFinding& finding : suspicion(rows)) result.findings.push_back(std::move(finding));
  }
  return result;
}

}  // namespace convoke::study
