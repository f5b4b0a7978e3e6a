#include "convoke/study/tables/cells.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <utility>

#include "convoke/core/text.hpp"
#include "study/tables/columns.hpp"

namespace convoke::study {
namespace {

void settle(MeasuredCell& cell) {
  const auto is_contended = [](const Measurement& m) { return m.has_mark("contended"); };
  if (!std::all_of(cell.runs.begin(), cell.runs.end(), is_contended)) {
    cell.contended += static_cast<std::int64_t>(std::erase_if(cell.runs, is_contended));
  }
  for (const Measurement& run : cell.runs) add_marks(cell.marks, run.marks);
  for (const Quantity& quantity : kQuantities) {
    const std::vector<double> values = values_of(cell, quantity);
    if (!values.empty()) cell.statistics.emplace(quantity.name, summarize(values));
  }
  std::map<std::string, std::vector<double>> further;
  for (const Measurement& run : cell.runs) {
    for (const auto& [name, number] : run.further) further[name].push_back(number);
  }
  for (const auto& [name, values] : further) {
    cell.statistics.emplace(std::string(kFurtherPrefix) + name, summarize(values));
  }
}

// Runs that failed before they recorded a machine count for the machine of the other runs of their cell.
void take_failures(std::vector<MeasuredCell>& cells) {
  for (MeasuredCell& cell : cells) {
    if (!cell.runs.empty() || !cell.at.machine.empty()) continue;
    const auto other = std::find_if(cells.begin(), cells.end(), [&](const MeasuredCell& each) {
      return !each.runs.empty() && on_any_machine(each.at) == cell.at;
    });
    if (other != cells.end()) other->failed += std::exchange(cell.failed, 0);
  }
  std::erase_if(cells, [](const MeasuredCell& cell) { return cell.runs.empty() && cell.failed == 0; });
}

}  // namespace

Coordinates coordinates(const Measurement& m) {
  return {m.system,  m.mode,     m.ranks,
          m.threads, m.fraction, m.batch,
          m.variant, m.machine,  m.has_mark("emulated")};
}

Coordinates on_any_machine(Coordinates at) {
  at.machine.clear();
  return at;
}

std::string run_name(const Coordinates& at) {
  std::string name = fmt::format("{}-{}-{}x{}", at.system, at.mode, at.ranks, at.threads);
  if (at.fraction != 1) name += fmt::format("-p{:.4g}", at.fraction);
  if (at.batch == "weak") name += "-weak";
  if (!at.variant.empty()) name += "-" + at.variant;
  if (at.emulated) name += "-emulated";
  std::replace_if(
      name.begin(), name.end(),
      [](unsigned char c) { return std::isalnum(c) == 0 && c != '.' && c != '+' && c != '-'; }, '_');
  return name;
}

bool is_sequential(std::string_view mode) {
  return mode == "sequential" || mode == "serial" || mode == "single";
}

std::string fraction_text(double fraction) {
  const double inverse = std::round(1 / fraction);
  if (fraction < 1 && std::abs(inverse * fraction - 1) < 1e-9) return fmt::format("1/{:.0f}", inverse);
  return fmt::format("{:.4g}", fraction);
}

std::string to_string(const Coordinates& at) {
  std::string text;
  const auto add = [&](const std::string& part) {
    if (!part.empty()) text += (text.empty() ? "" : ", ") + part;
  };
  add(at.system);
  add(at.mode);
  if (at.ranks > 0) {
    add(counted(at.ranks, "rank") + (at.threads == 1 ? "" : " x " + counted(at.threads, "thread")));
  }
  if (at.fraction != 1) add(fraction_text(at.fraction) + " of the samples");
  add(at.batch == "weak" ? "weak batch" : "");
  add(at.variant);
  add(at.machine);
  return text.empty() ? "all" : text;
}

std::string loud(std::string mark) {
  std::transform(mark.begin(), mark.end(), mark.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return mark;
}

std::string marked(const std::string& text, std::span<const std::string> marks) {
  if (marks.empty()) return text;
  return fmt::format("{} [{}]", text, loud(join(marks)));
}

const MeasuredCell* cell_at(std::span<const MeasuredCell> cells, const Coordinates& at) {
  const auto it = std::find_if(cells.begin(), cells.end(), [&](const MeasuredCell& c) { return c.at == at; });
  return it == cells.end() ? nullptr : &*it;
}

const MeasuredCell* largest_cell_at(std::span<const MeasuredCell> cells, const Coordinates& at) {
  const MeasuredCell* largest = nullptr;
  for (const MeasuredCell& cell : cells) {
    if (on_any_machine(cell.at) != on_any_machine(at)) continue;
    if (largest == nullptr || cell.runs.size() > largest->runs.size()) largest = &cell;
  }
  return largest;
}

void add_marks(std::vector<std::string>& all, std::span<const std::string> marks) {
  for (const std::string& mark : marks) {
    if (std::find(all.begin(), all.end(), mark) == all.end()) all.push_back(mark);
  }
}

bool is_oversubscribed(std::span<const std::string> marks) {
  return std::find(marks.begin(), marks.end(), "oversubscribed") != marks.end();
}

std::vector<double> values_of(const MeasuredCell& cell, const Quantity& quantity) {
  std::vector<double> values;
  for (auto run = cell.runs.begin(); run != cell.runs.end(); ++run) {
    const auto& value = (*run).*quantity.member;
    // A repeat has one seed: in two studies together, the second has no new information about its scores.
    const bool known = quantity.kind == Quantity::Kind::kScore &&
                       std::any_of(cell.runs.begin(), run, [&](const Measurement& earlier) {
                         return earlier.repeat == run->repeat && earlier.*quantity.member == value;
                       });
    if (value && !known) values.push_back(*value);
  }
  return values;
}

const Statistics* MeasuredCell::find(std::string_view quantity) const {
  const auto it = statistics.find(quantity);
  return it == statistics.end() ? nullptr : &it->second;
}

std::string_view MeasuredCell::dataset_hash() const {
  return runs.empty() ? std::string_view() : runs.front().dataset_hash;
}

std::vector<MeasuredCell> cells_of(std::span<const Measurement> measurements) {
  std::vector<MeasuredCell> cells;
  for (const Measurement& measurement : measurements) {
    const Coordinates at = coordinates(measurement);
    auto cell = std::find_if(cells.begin(), cells.end(), [&](const MeasuredCell& c) { return c.at == at; });
    if (cell == cells.end()) {
      cells.emplace_back();
      cell = cells.end() - 1;
      cell->at = at;
    }
    if (measurement.has_mark("failed")) {
      ++cell->failed;
      continue;
    }
    const auto superseded = [&](const Measurement& m) {
      return m.has_mark("contended") && m.repeat == measurement.repeat;
    };
    cell->contended += static_cast<std::int64_t>(std::erase_if(cell->runs, superseded));
    cell->runs.push_back(measurement);
    Measurement& run = cell->runs.back();
    if (!run.core_seconds && run.makespan_seconds && at.workers() > 0) {
      run.core_seconds = *run.makespan_seconds * static_cast<double>(at.workers());
    }
  }
  for (MeasuredCell& cell : cells) settle(cell);
  take_failures(cells);
  return cells;
}

}  // namespace convoke::study
