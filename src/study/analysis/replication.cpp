#include "convoke/study/analysis/replication.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "convoke/core/text.hpp"

namespace convoke::study {
namespace {

double chance_of_cover(std::int64_t first_runs, std::int64_t second_runs) {
  const auto n = static_cast<double>(first_runs), m = static_cast<double>(second_runs);
  return 1 - student_p(student_t(n - 1) / std::sqrt(1 + n / m), n - 1);
}

std::optional<ReplicatedCell> compared(const MeasuredCell& first, const MeasuredCell* second) {
  if (second == nullptr) return {};
  const Statistics *a = first.find("makespan_seconds"), *b = second->find("makespan_seconds");
  if (a == nullptr || b == nullptr || !a->interval || a->mean <= 0) return {};
  ReplicatedCell cell{
      .at = first.at, .first = *a, .second = *b, .change = ratio(*b, *a), .marks = first.marks};
  cell.covered = a->interval->low <= b->mean && b->mean <= a->interval->high;
  cell.chance = chance_of_cover(a->count, b->count);
  add_marks(cell.marks, second->marks);
  return cell;
}

}  // namespace

std::int64_t Replication::covered() const {
  return std::count_if(cells.begin(), cells.end(), [](const ReplicatedCell& cell) { return cell.covered; });
}

double Replication::expected() const {
  double sum = 0;
  for (const ReplicatedCell& cell : cells) sum += cell.chance;
  return sum;
}

Replication replication(std::span<const MeasuredCell> first, std::span<const MeasuredCell> second) {
  Replication all;
  for (const MeasuredCell& cell : first) {
    if (auto both = compared(cell, cell_at(second, cell.at))) {
      all.cells.push_back(*std::move(both));
    } else {
      all.left_out.push_back(cell.at);
    }
  }
  for (const MeasuredCell& cell : second) {
    if (cell_at(first, cell.at) == nullptr) all.left_out.push_back(cell.at);
  }
  return all;
}

TextTable table_of(const Replication& replication) {
  TextTable table{"Repetition",
                  "means ± half the 95 % Student-t interval; change: second / first - 1, Fieller's interval",
                  {"cell", "first (s)", "second (s)", "change (%)", "within the first's interval"},
                  {}};
  for (const ReplicatedCell& cell : replication.cells) {
    const Ratio percent = transformed(cell.change, [](double q) { return 100 * (q - 1); });
    table.rows.push_back({marked(to_string(cell.at), cell.marks),
                          with_error(cell.first.mean, cell.first.interval),
                          with_error(cell.second.mean, cell.second.interval), with_ends(percent, 1),
                          cell.covered ? "yes" : "no"});
  }
  return table;
}

std::string sentence(const Replication& replication) {
  const auto cells = static_cast<std::int64_t>(replication.cells.size());
  if (cells == 0) return "repetition: the two studies have no common cell with an interval";
  std::string text = fmt::format(
      "repetition: {} of {} means of the second study lie within the first's intervals ({:.0f} %); {:.1f} "
      "are expected if the studies differ only by chance, because the second mean scatters too",
      replication.covered(), cells,
      100.0 * static_cast<double>(replication.covered()) / static_cast<double>(cells),
      replication.expected());
  if (!replication.left_out.empty()) {
    std::vector<std::string> names;
    for (const Coordinates& at : replication.left_out) names.push_back(to_string(at));
    text += "; left out, because only one study has them or they have no interval: " + join(names, "; ");
  }
  return text;
}

}  // namespace convoke::study
