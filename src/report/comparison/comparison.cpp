#include "convoke/report/comparison.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <set>

#include "convoke/core/error.hpp"
#include "convoke/core/lookup.hpp"
#include "convoke/data/dataset.hpp"
#include "convoke/os/processors.hpp"

namespace convoke::report {
namespace {

constexpr double kSameCost = 1.05;  // core-seconds within this factor count as equal

// The difference of two shares p and q of n samples has a standard error of about sqrt((p(1-p) + q(1-q)) /
// n), or less if, as here, both shares come from the same samples.
double margin_of_difference(const RunResult& a, const RunResult& b) {
  const auto variance = [](const RunResult& r) {
    return r.accuracy * (1 - r.accuracy) / static_cast<double>(r.samples);
  };
  return 1.96 * std::sqrt(variance(a) + variance(b));
}

std::string verdict_on(const RunResult& a, const RunResult& b) {
  const RunResult& more = a.accuracy >= b.accuracy ? a : b;
  const RunResult& less = a.accuracy >= b.accuracy ? b : a;
  const double difference = more.accuracy - less.accuracy, margin = margin_of_difference(a, b);
  const std::string both =
      fmt::format("{} reached {:.2f} % in {:.1f} core-seconds, {} {:.2f} % in {:.1f}: ", more.name,
                  100 * more.accuracy, more.core_seconds, less.name, 100 * less.accuracy, less.core_seconds);
  if (difference <= margin) {
    return both + fmt::format(
                      "the difference of {:.2f} points is within the 95 % margin of {} test samples, {:.2f} "
                      "points, so it may be chance.",
                      100 * difference, a.samples, 100 * margin);
  }
  const std::string by = fmt::format("by {:.2f} points (95 % margin {:.2f})", 100 * difference, 100 * margin);
  if (more.core_seconds <= kSameCost * less.core_seconds) return both + "the former is better " + by + ".";
  return both + fmt::format("the former is more accurate {}, for {:.2f} times the core-seconds.", by,
                            more.core_seconds / less.core_seconds);
}

// Returns "on samples of different datasets"; "" if they are the same, as far as known.
std::string difference_of_samples(const RunResult& a, const RunResult& b) {
  const auto differ = [](const std::string& x, const std::string& y) {
    return !x.empty() && !y.empty() && x != y;
  };
  if (differ(a.content_hash, b.content_hash)) return "on samples of different datasets";
  if (differ(a.split, b.split))
    return fmt::format("on different splits, \"{}\" and \"{}\"", a.split, b.split);
  if (a.samples != b.samples)
    return fmt::format("on different numbers of samples, {} and {}", a.samples, b.samples);
  return {};
}

std::int64_t failed_members(const RunRecord& run) {
  const std::vector<Settings> members = tables_at(run.summary, "member_facts");
  return std::ranges::count_if(members,
                               [](const Settings& member) { return !text_at(member, "failure").empty(); });
}

std::string alone(const RunResult& run) {
  const std::int64_t cores = run.workers.cores;
  return fmt::format("{}: there is no {} on equally many cores ({}).", run.name,
                     run.ensemble ? "synchronous run" : "ensemble", cores);
}

}  // namespace

std::string RunResult::title() const {
  const std::string kind = !ensemble             ? "synchronous"
                           : !one_member.empty() ? one_member
                           : missing == 0        ? fmt::format("ensemble of {}", members)
                                          : fmt::format("ensemble of {} - {} failed", members, missing);
  return fmt::format("{}, {} x {}{}", kind, ranks, threads,
                     workers.oversubscribed() ? " [OVERSUBSCRIBED]" : "");
}

RunResult result_of(const RunRecord& run) {
  const Settings& summary = run.summary;
  const auto number = [&](const char* path) {
    const double value = number_at(summary, path);
    if (!std::isnan(value)) return value;
    throw Error(fmt::format("{} has no number \"{}\"", (run.folder / "summary.json").string(), path),
                "evaluate the run again with this version of Convoke");
  };
  const auto count = [&](const char* path) { return std::llround(number(path)); };
  RunResult result{.folder = run.folder.string(),
                   .name = {},
                   .ensemble = text_at(summary, "mode") == "ensemble",
                   .resumed = run.resumed(),
                   .one_member = run.one_member(),
                   .provenance = text_at(summary, "provenance"),
                   .content_hash = text_at(run.evaluation, "content_hash"),
                   .split = text_at(run.evaluation, "split"),
                   .ranks = count("ranks"),
                   .threads = count("threads"),
                   .members = count("members"),
                   .samples = count("test.samples"),
                   .missing = failed_members(run),
                   .workers = run.workers(),
                   .accuracy = number("test.accuracy"),
                   .precision = number("test.precision"),
                   .recall = number("test.recall"),
                   .f1 = number("test.f1"),
                   .makespan = number("makespan_seconds"),
                   .core_seconds = number("core_seconds"),
                   .images_per_second = number("images_per_second")};
  const double validation = number_at(summary, "validation_accuracy");
  if (!std::isnan(validation)) result.validation_accuracy = validation;
  const double others = number_at(summary, "other_programs");
  if (!std::isnan(others)) result.other_programs = others;
  result.name = result.title();
  return result;
}

std::vector<std::string> names_apart(std::vector<std::string> titles, std::span<const std::string> folders) {
  const auto unique = [&] { return std::set(titles.begin(), titles.end()).size() == titles.size(); };
  if (!unique()) {
    for (std::size_t i = 0; i < titles.size(); ++i) {
      const auto whole = std::filesystem::absolute(folders[i] + "/").lexically_normal();
      titles[i] = fmt::format("{}: {}", whole.parent_path().filename().string(), titles[i]);
    }
  }
  if (!unique()) {
    for (std::size_t i = 0; i < titles.size(); ++i) titles[i] = fmt::format("{}. {}", i + 1, titles[i]);
  }
  return titles;
}

Table side_by_side(std::span<const RunResult> runs) {
  Table table{{"result"}, {}};
  for (const RunResult& run : runs) table.columns.push_back(run.name);
  const auto row = [&](const char* name, const auto& cell) {
    std::vector<Cell> cells{name};
    for (const RunResult& run : runs) cells.push_back(cell(run));
    table.rows.push_back(std::move(cells));
  };
  const auto number = [](const std::string& text, double value) {
    return Cell::exact(text, fmt::format("{:.6g}", value));
  };
  const auto share = [&](double value) { return number(fmt::format("{:.4f}", value), value); };
  const auto cost = [&](const RunResult& run, const char* format, double value) {
    return run.resumed ? Cell("–") : number(fmt::format(fmt::runtime(format), value), value);
  };
  const RunResult& first = runs.front();
  if (std::ranges::any_of(runs, [](const RunResult& r) { return r.validation_accuracy.has_value(); })) {
    row("validation accuracy", [&](const RunResult& r) {
      return r.validation_accuracy ? share(*r.validation_accuracy) : Cell("–");
    });
  }
  row("test accuracy", [&](const RunResult& r) { return share(r.accuracy); });
  row("precision (weighted)", [&](const RunResult& r) { return share(r.precision); });
  row("recall (weighted)", [&](const RunResult& r) { return share(r.recall); });
  row("F1 (weighted)", [&](const RunResult& r) { return share(r.f1); });
  row("makespan", [&](const RunResult& r) { return cost(r, "{:.2f} s", r.makespan); });
  row("speed-up", [&](const RunResult& r) {
    return cost(first.resumed ? first : r, "{:.2f} x", first.makespan / r.makespan);
  });
  if (std::ranges::any_of(runs, [](const RunResult& r) { return r.other_programs >= os::kNotableUse; })) {
    row("other programs took", [&](const RunResult& r) {
      return r.other_programs
                 ? number(fmt::format("{:.0f} % of the cores", 100 * *r.other_programs), *r.other_programs)
                 : Cell("–");
    });
  }
  row("core-seconds", [&](const RunResult& r) { return cost(r, "{:.1f}", r.core_seconds); });
  if (std::ranges::any_of(runs, [](const RunResult& r) { return r.workers.oversubscribed(); })) {
    row("worker threads", [](const RunResult& r) { return Cell::count(r.workers.threads); });
    row("their cores", [](const RunResult& r) { return Cell::count(r.workers.cores); });
  }
  if (std::ranges::any_of(runs, [](const RunResult& r) { return data::is_synthetic(r.provenance); })) {
    row("data", [](const RunResult& r) {
      return Cell(data::is_synthetic(r.provenance) ? "synthetic" : "not synthetic");
    });
  }
  row("images/s", [&](const RunResult& r) { return cost(r, "{:.0f}", r.images_per_second); });
  return table;
}

RunComparison compare_runs(std::span<const RunResult> runs) {
  RunComparison comparison;
  if (runs.size() < 2) return comparison;
  std::vector<bool> done(runs.size());  // compared, or a sentence says why not
  for (std::size_t r = 0; r < runs.size(); ++r) {
    if (runs[r].one_member.empty()) continue;
    done[r] = true;
    comparison.not_compared.push_back(
        fmt::format("{} is one member; `convoke gather` makes the ensemble.", runs[r].name));
  }
  const auto is = [](const RunResult& run, bool ensemble) {
    return run.ensemble == ensemble && run.one_member.empty();
  };
  for (const bool ensemble : {false, true}) {
    if (std::ranges::any_of(runs, [&](const RunResult& run) { return is(run, ensemble); })) continue;
    comparison.not_compared.push_back(
        fmt::format("there is no {} among these runs.", ensemble ? "ensemble" : "synchronous run"));
    return comparison;
  }
  for (std::size_t e = 0; e < runs.size(); ++e) {
    for (std::size_t s = 0; s < runs.size(); ++s) {
      const RunResult &ensemble = runs[e], &sync = runs[s];
      if (!is(ensemble, true) || !is(sync, false) || ensemble.workers.cores != sync.workers.cores) continue;
      done[e] = done[s] = true;
      if (const std::string why = difference_of_samples(sync, ensemble); !why.empty()) {
        comparison.not_compared.push_back(
            fmt::format("{} and {} were tested {}.", sync.name, ensemble.name, why));
      } else if (sync.resumed || ensemble.resumed) {
        comparison.not_compared.push_back(
            fmt::format("{} and {}: the costs of {} are only those since it was resumed.", sync.name,
                        ensemble.name, (sync.resumed ? sync : ensemble).name));
      } else {
        comparison.verdicts.push_back(verdict_on(sync, ensemble));
      }
    }
  }
  for (std::size_t r = 0; r < runs.size(); ++r) {
    if (!done[r]) comparison.not_compared.push_back(alone(runs[r]));
  }
  return comparison;
}

bool tested_alike(std::span<const RunResult> runs) {
  for (const RunResult& a : runs) {
    for (const RunResult& b : runs) {
      if (!difference_of_samples(a, b).empty()) return false;
    }
  }
  return true;
}

}  // namespace convoke::report
