#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "convoke/core/lookup.hpp"
#include "convoke/core/text.hpp"
#include "convoke/explore/vectors.hpp"
#include "report/run/sections.hpp"

// Times of phases, over all ranks and of each rank.

namespace convoke::report {
namespace {

Chart phase_chart(const RunRecord& run, double ranks) {
  const bool several = ranks > 1;
  Chart chart{
      Chart::Kind::kBar,
      "Where the time went",
      several ? "The slowest rank, the mean and the fastest rank in each phase. Communication is the part of "
                "training steps in which a rank only waits for others."
              : "Seconds in each phase.",
      "",
      "seconds",
      {{"phase"}, {}}};
  using Columns = std::vector<std::pair<const char*, const char*>>;  // names and keys
  const Columns columns = several ? Columns{{"slowest", "max"}, {"mean", "mean"}, {"fastest", "min"}}
                                  : Columns{{"seconds", "max"}};
  for (const auto& [name, key] : columns) chart.table.columns.emplace_back(name);
  for (const Phase& phase : kPhases) {
    std::vector<Cell> row{phase.name};
    for (const auto& [name, key] : columns)
      row.push_back(Cell::seconds(number_at(run.summary, fmt::format("phases.{}.{}", phase.key, key))));
    chart.table.rows.push_back(std::move(row));
  }
  return chart;
}

// The parts of the steps of each rank as one bar. With many ranks, only those that computed longest: others
// wait for them. `seconds`: by phase and rank.
Chart step_chart(const std::vector<std::vector<double>>& seconds, std::size_t ranks) {
  constexpr std::int64_t kShown = 24;
  Chart chart{Chart::Kind::kBar,
              "Training steps by rank",
              "The ranks of a step end it together: a rank that computes longer waits less, and the others "
              "wait for it.",
              "rank",
              "seconds",
              {{"rank"}, {}}};
  chart.stacked = true;
  std::vector<double> computing(ranks, 0);
  for (std::size_t p = kFirstOfStep; p <= kLastOfStep; ++p) {
    chart.table.columns.emplace_back(kPhases[p].name);
    for (std::size_t r = 0; p < kLastOfStep && r < ranks; ++r) computing[r] += seconds[p][r];
  }
  std::vector<std::size_t> shown = explore::largest<std::size_t>(computing, kShown);
  std::ranges::sort(shown);
  if (shown.size() < ranks) {
    chart.note += fmt::format(" Of {} ranks, these {} computed longest.", ranks, kShown);
  }
  for (const std::size_t r : shown) {
    std::vector<Cell> row{Cell::count(static_cast<std::int64_t>(r))};
    for (std::size_t p = kFirstOfStep; p <= kLastOfStep; ++p) row.push_back(Cell::seconds(seconds[p][r]));
    chart.table.rows.push_back(std::move(row));
  }
  return chart;
}

// Seconds of each rank; the slowest rank of each phase has the full color.
void add_ranks(Page& page, const RunRecord& run) {
  const Settings& phases = table_at(run.summary, "rank_phases");
  const std::vector<Settings> placements = tables_at(run.environment, "placements");
  const std::size_t ranks = numbers_at(phases, "steps").size();
  if (ranks < 2) return;
  Table table{{"rank", "host"}, {}};
  std::vector<std::vector<double>> columns;
  for (const Phase& phase : kPhases) {
    table.columns.emplace_back(phase.name);
    columns.push_back(numbers_at(phases, phase.key));
    columns.back().resize(ranks, NAN);
  }
  for (std::size_t r = 0; r < ranks; ++r) {
    std::vector<Cell> row{Cell::count(static_cast<std::int64_t>(r)),
                          r < placements.size() ? text_at(placements[r], "host") : std::string()};
    for (const std::vector<double>& column : columns) {
      double most = 0;
      for (const double seconds : column) most = std::fmax(most, seconds);
      row.push_back(Cell::seconds(column[r]).shaded(most > 0 ? column[r] / most : 0));
    }
    table.rows.push_back(std::move(row));
  }
  if (number_at(run.summary, "phases.steps.max") > 0) page.add(step_chart(columns, ranks));
  if (const Settings& slow = table_at(run.summary, "straggler"); !slow.empty()) {
    page.warning(fmt::format("Rank {} on {} is slower than the others: {}: {}.",
                             count_at(slow, "rank").value_or(0), text_at(slow, "host"),
                             text_at(slow, "cause"), text_at(slow, "evidence")));
  }
  page.heading("By rank");
  page.add(table);
}

}  // namespace

void add_times(Page& page, const RunRecord& run) {
  if (table_at(run.summary, "phases").empty()) return;
  page.section("Time");
  page.add(phase_chart(run, static_cast<double>(numbers_at(run.summary, "rank_phases.steps").size())));
  if (!tables_at(run.summary, "member_facts").empty() && !list_at(run.summary, "gathered_from").empty()) {
    page.paragraph(
        "These are the phases of `convoke gather`; the phases of training are in the gathered runs.");
  }
  add_ranks(page, run);
  Facts facts;
  const auto add = [&](const char* name, const char* path, const auto& text) {
    add_fact(facts, name, run.summary, path, text);
  };
  const auto percent = [](double share) { return fmt::format("{:.1f} %", 100 * share); };
  const auto mebibytes = [](double number) {
    return format_bytes(static_cast<std::uint64_t>(number * 1024 * 1024));
  };
  add("Exposed communication, of the steps", "exposed_share", percent);
  add("Other programs, of these cores", "other_programs", percent);
  add("Time to the first step", "seconds_to_first_step", format_duration);
  add("Computing cached features", "features.seconds", format_duration);
  add("Size of cached features", "features.bytes",
      [](double bytes) { return format_bytes(static_cast<std::uint64_t>(bytes)); });
  add("Peak memory of a rank", "peak_rss_mib", mebibytes);
  add("Predicted memory", "predicted_rss_mib", mebibytes);
  add("Checkpoints written", "checkpoints.written", count_text);
  add("Longest wait for a checkpoint", "checkpoints.longest_wait", format_duration);
  add("Longest writing of a checkpoint", "checkpoints.longest_writing", format_duration);
  page.facts(facts);
}

}  // namespace convoke::report
