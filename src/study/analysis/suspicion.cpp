#include "study/analysis/derivation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "convoke/core/text.hpp"

namespace convoke::study {
namespace {

constexpr std::string_view kMean = "mean_over_ranks_seconds", kMakespan = "makespan_seconds";

// The speed-up that a row claims, and the column it comes from.
struct ClaimedSpeedup {
  Range speedup;
  std::string text;  // "a decrease of 82.72 %"
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
  if (const auto decrease = Rows::figure(row, "decrease_percent"); decrease && decrease->high < 100) {
    claims.push_back({Range{1, 1, 1} / one_minus(0.01 * *decrease),
                      fmt::format("a decrease of {:.4g} %", decrease->value)});
  }
  if (const auto speedup = Rows::figure(row, "speedup")) claims.push_back({*speedup, "a printed speed-up"});
  for (const TimeColumn& time : kTimes) {
    if (const auto speedup = rows.speedup(row, time.column)) {
      claims.push_back({with_scatter(*speedup, rows, row, time.column), std::string(time.plural)});
    }
  }
  return claims;
}

}  // namespace

std::string name_of(const TableRow& row) { return to_string(coordinates(row.measurement)); }

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

// Makes one finding for each system, mode and kind of claim.
std::vector<AuditFinding> impossible_speedups(const Rows& rows) {
  struct Group {
    std::vector<std::string> workers;
    std::string worst;
    double excess = 0;
  };
  std::map<std::string, Group> groups;
  for (const TableRow& row : rows) {
    Coordinates at = coordinates(row.measurement);
    const TableRow* base = rows.base(row, kMakespan);
    if (base == nullptr) base = rows.base(row, "epoch_seconds");
    const double p =
        rows.workers(row, base != nullptr && Rows::figure(*base, kMakespan) ? kMakespan : "epoch_seconds");
    if (p <= 1) continue;
    for (const ClaimedSpeedup& claim : claims_of(rows, row)) {
      if (claim.speedup.low <= p) continue;
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

}  // namespace convoke::study
