#include "convoke/study/running/cell_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "convoke/core/text.hpp"
#include "convoke/study/analysis/statistics.hpp"
#include "convoke/study/tables/cells.hpp"

namespace convoke::study {
namespace {

// Formats seconds with three significant digits.
std::string seconds_text(double seconds) {
  return fmt::format("{:.{}f}", seconds, seconds >= 100 ? 0 : seconds >= 10 ? 1 : seconds >= 1 ? 2 : 3);
}

// Returns the number of runs of the same cell on other machines.
std::int64_t runs_elsewhere(std::span<const MeasuredCell> measured, const MeasuredCell& cell) {
  std::int64_t runs = 0;
  for (const MeasuredCell& other : measured) {
    if (&other != &cell && on_any_machine(other.at) == on_any_machine(cell.at))
      runs += std::ssize(other.runs);
  }
  return runs;
}

std::string notes_of(const MeasuredCell& cell, const Statistics* makespan, std::int64_t elsewhere) {
  std::vector<std::string> notes;
  for (const std::string& mark : cell.marks) notes.push_back(loud(mark));
  if (cell.contended > 0) notes.push_back(fmt::format("{} contended left out", cell.contended));
  if (cell.failed > 0) notes.push_back(fmt::format("{} FAILED", cell.failed));
  if (elsewhere > 0) notes.push_back(fmt::format("{} on another machine", elsewhere));
  if (makespan != nullptr && makespan->count == 1) notes.emplace_back("one run: no interval");
  if (makespan != nullptr && makespan->is_constant()) notes.emplace_back("all equal: the scatter is unknown");
  return join(notes);
}

}  // namespace

std::vector<std::string> cell_table(std::span<const Configuration> cells, std::span<const Measurement> runs) {
  const std::vector<MeasuredCell> measured = cells_of(runs);
  std::size_t width = 4;
  for (const Configuration& cell : cells) width = std::max(width, cell.name.size() + 1);  // "!"
  std::vector<std::string> lines{fmt::format("{:<{}} {:>4}  {:>11}  {:>17}  {:>7}  {:>8}", "cell", width,
                                             "runs", "makespan, s", "95 % interval", "+/-", "accuracy")};
  for (const Configuration& each : cells) {
    const MeasuredCell* cell = largest_cell_at(measured, each.at);
    if (cell == nullptr) {
      lines.push_back(fmt::format("{:<{}} {:>4}", each.name, width, "-"));
      continue;
    }
    const Statistics* makespan = cell->find("makespan_seconds");
    const Statistics* accuracy = cell->find("accuracy");
    const bool known = makespan != nullptr && makespan->interval.has_value();
    std::string line = fmt::format(
        "{:<{}} {:>4}  {:>11}  {:>17}  {:>7}  {:>8}", (cell->marks.empty() ? "" : "!") + each.name, width,
        cell->runs.size(), makespan == nullptr ? "-" : seconds_text(makespan->mean),
        known ? seconds_text(makespan->interval->low) + " .. " + seconds_text(makespan->interval->high) : "-",
        known && makespan->relative_error ? fmt::format("{:.1f} %", 100 * *makespan->relative_error) : "-",
        accuracy == nullptr ? "-" : fmt::format("{:.4f}", accuracy->mean));
    if (const std::string notes = notes_of(*cell, makespan, runs_elsewhere(measured, *cell)); !notes.empty())
      line += "  " + notes;
    lines.push_back(std::move(line));
  }
  return lines;
}

}  // namespace convoke::study
