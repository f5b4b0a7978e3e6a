#include "convoke/report/comparison.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "convoke/core/error.hpp"
#include "convoke/core/lookup.hpp"
#include "convoke/data/provenance.hpp"

namespace convoke::report {
namespace {

// The difference of two shares p and q of n samples has a standard error of about sqrt((p(1-p) + q(1-q)) /
// n); the samples are the same, so this is on the safe side.
std::string sentence(const RunResult& a, const RunResult& b) {
  const auto variance = [](const RunResult& r) {
    return r.accuracy * (1 - r.accuracy) / static_cast<double>(r.samples);
  };
  const double margin = 1.96 * std::sqrt(variance(a) + variance(b));
  const RunResult& better = a.accuracy >= b.accuracy ? a : b;
  const RunResult& worse = a.accuracy >= b.accuracy ? b : a;
  const double difference = better.accuracy - worse.accuracy;
  std::string text = fmt::format(
      "{} got {:.2f} % in {:.1f} core-seconds, {} {:.2f} % in {:.1f}: ", better.title(),
      100 * better.accuracy, better.core_seconds, worse.title(), 100 * worse.accuracy, worse.core_seconds);
  if (difference <= margin) {
    return text + fmt::format(
                      "a difference of {:.2f} points, which {} test samples cannot tell from chance "
                      "(95 % margin {:.2f}).",
                      100 * difference, a.samples, 100 * margin);
  }
  return text + fmt::format("the former is better by {:.2f} points (95 % margin {:.2f}).", 100 * difference,
                            100 * margin);
}

}  // namespace

std::string RunResult::title() const {
  return fmt::format("{}, {} x {}", ensemble ? fmt::format("ensemble of {}", members) : "synchronous", ranks,
                     threads);
}

RunResult result_of(const Settings& summary, const std::string& folder, const std::string& file) {
  const auto number = [&](const char* path) {
    const double value = number_at(summary, path);
    if (!std::isnan(value)) return value;
    throw Error(fmt::format("{} has no number \"{}\"", file, path),
                "was it written by another version of Convoke?");
  };
  const auto count = [&](const char* path) { return std::llround(number(path)); };
  return {.folder = folder,
          .ensemble = text_at(summary, "mode") == "ensemble",
          .provenance = text_at(summary, "provenance"),
          .ranks = count("ranks"),
          .threads = count("threads"),
          .members = count("members"),
          .samples = count("test.samples"),
          .accuracy = number("test.accuracy"),
          .precision = number("test.precision"),
          .recall = number("test.recall"),
          .f1 = number("test.f1"),
          .makespan = number("makespan_seconds"),
          .core_seconds = number("core_seconds"),
          .images_per_second = number("images_per_second")};
}

Table side_by_side(std::span<const RunResult> runs, std::span<const std::string> names) {
  Table table{{"result"}, {}};
  table.columns.insert(table.columns.end(), names.begin(), names.end());
  const auto row = [&](const char* name, const auto& cell) {
    std::vector<Cell> cells{name};
    for (const RunResult& run : runs) cells.push_back(cell(run));
    table.rows.push_back(std::move(cells));
  };
  const auto number = [](const std::string& text, double value) {
    Cell cell(text);
    cell.value = fmt::format("{:.6g}", value);
    return cell;
  };
  const auto share = [&](double value) { return number(fmt::format("{:.4f}", value), value); };
  const double base = runs.front().makespan;
  row("accuracy", [&](const RunResult& r) { return share(r.accuracy); });
  row("precision (weighted)", [&](const RunResult& r) { return share(r.precision); });
  row("recall (weighted)", [&](const RunResult& r) { return share(r.recall); });
  row("F1 (weighted)", [&](const RunResult& r) { return share(r.f1); });
  row("makespan",
      [&](const RunResult& r) { return number(fmt::format("{:.2f} s", r.makespan), r.makespan); });
  row("speed-up", [&](const RunResult& r) {
    return number(fmt::format("{:.2f} x", base / r.makespan), base / r.makespan);
  });
  row("core-seconds",
      [&](const RunResult& r) { return number(fmt::format("{:.1f}", r.core_seconds), r.core_seconds); });
  if (std::any_of(runs.begin(), runs.end(),
                  [](const RunResult& r) { return data::is_synthetic(r.provenance); })) {
    row("data", [](const RunResult& r) {
      return Cell(data::is_synthetic(r.provenance) ? "synthetic" : "not synthetic");
    });
  }
  row("images/s", [&](const RunResult& r) {
    return number(fmt::format("{:.0f}", r.images_per_second), r.images_per_second);
  });
  return table;
}

std::vector<std::string> verdicts(std::span<const RunResult> runs) {
  std::vector<std::string> sentences;
  for (const RunResult& ensemble : runs) {
    if (!ensemble.ensemble) continue;
    const auto twin = std::find_if(runs.begin(), runs.end(), [&](const RunResult& run) {
      return !run.ensemble && run.cores() == ensemble.cores();
    });
    if (twin != runs.end()) sentences.push_back(sentence(*twin, ensemble));
  }
  return sentences;
}

}  // namespace convoke::report
