#include "compare.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "convoke/core/error.hpp"
#include "convoke/core/settings.hpp"
#include "convoke/metrics/json.hpp"
#include "provenance.hpp"

namespace convoke::app {
namespace {

constexpr const char* kExamples = R"(Examples:
  convoke compare runs/one-rank runs/synchronous runs/ensemble    speed-up is over the first
)";

/// What the comparison takes from a run's summary.json.
struct Run {
  std::string folder, mode, provenance;
  std::int64_t ranks = 0, threads = 0, members = 0, samples = 0;
  double accuracy = 0, precision = 0, recall = 0, f1 = 0;
  double makespan = 0, core_seconds = 0, images_per_second = 0;

  std::string title() const {
    const std::string who = mode == "ensemble" ? fmt::format("ensemble of {}", members) : "synchronous";
    return fmt::format("{}, {} x {}", who, ranks, threads);
  }
};

double number(const Settings& table, const std::string& key, const std::string& file) {
  const Value* value = table.find(key);
  if (value != nullptr) {
    if (const auto* v = std::get_if<double>(&value->data())) return *v;
    if (const auto* v = std::get_if<std::int64_t>(&value->data())) return static_cast<double>(*v);
  }
  throw Error(fmt::format("{} has no number \"{}\"", file, key),
              "was it written by another version of Convoke?");
}

std::int64_t count(const Settings& table, const std::string& key, const std::string& file) {
  return std::llround(number(table, key, file));
}

Run read_run(const std::string& folder) {
  const std::string file = (std::filesystem::path(folder) / "summary.json").string();
  std::ifstream in(file);
  if (!in) {
    throw Error(
        fmt::format("{} cannot be read", file),
        "name the folders of finished runs; a run that was interrupted has no summary yet (train --resume)");
  }
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  const Settings summary = metrics::settings_from_json(text, file);
  const Value* test = summary.find("test");
  if (test == nullptr || test->table() == nullptr) throw Error(fmt::format("{} has no test results", file));
  const Settings& scores = *test->table();
  const Value* mode = summary.find("mode");
  const bool ensemble = mode != nullptr && *mode == Value("ensemble");
  const Value* provenance = summary.find("provenance");
  const auto* text_of = provenance == nullptr ? nullptr : std::get_if<std::string>(&provenance->data());
  return {folder,
          ensemble ? "ensemble" : "sync",
          text_of == nullptr ? std::string() : *text_of,
          count(summary, "ranks", file),
          count(summary, "threads", file),
          count(summary, "members", file),
          count(scores, "samples", file),
          number(scores, "accuracy", file),
          number(scores, "precision", file),
          number(scores, "recall", file),
          number(scores, "f1", file),
          number(summary, "makespan_seconds", file),
          number(summary, "core_seconds", file),
          number(summary, "images_per_second", file)};
}

void print_table(const std::vector<Run>& runs) {
  const auto row = [&](const char* name, const auto& cell) {
    fmt::print("{:<22}", name);
    for (const Run& run : runs) fmt::print("{:>24}", cell(run));
    fmt::print("\n");
  };
  const double base = runs.front().makespan;
  row("", [](const Run& r) { return r.title(); });
  row("accuracy", [](const Run& r) { return fmt::format("{:.4f}", r.accuracy); });
  row("precision (weighted)", [](const Run& r) { return fmt::format("{:.4f}", r.precision); });
  row("recall (weighted)", [](const Run& r) { return fmt::format("{:.4f}", r.recall); });
  row("F1 (weighted)", [](const Run& r) { return fmt::format("{:.4f}", r.f1); });
  row("makespan", [](const Run& r) { return fmt::format("{:.2f} s", r.makespan); });
  row("speed-up", [&](const Run& r) { return fmt::format("{:.2f} x", base / r.makespan); });
  row("core-seconds", [](const Run& r) { return fmt::format("{:.1f}", r.core_seconds); });
  if (std::any_of(runs.begin(), runs.end(), [](const Run& r) { return is_synthetic(r.provenance); })) {
    row("data", [](const Run& r) { return is_synthetic(r.provenance) ? "synthetic" : "not synthetic"; });
  }
  row("images/s", [](const Run& r) { return fmt::format("{:.0f}", r.images_per_second); });
}

// The difference of two shares p and q of n samples has a standard error of about sqrt((p(1-p) + q(1-q)) /
// n); the samples are the same, so this is on the safe side.
std::string sentence(const Run& a, const Run& b) {
  const auto variance = [](const Run& r) {
    return r.accuracy * (1 - r.accuracy) / static_cast<double>(r.samples);
  };
  const double margin = 1.96 * std::sqrt(variance(a) + variance(b));
  const Run& better = a.accuracy >= b.accuracy ? a : b;
  const Run& worse = a.accuracy >= b.accuracy ? b : a;
  const double difference = better.accuracy - worse.accuracy;
  std::string text = fmt::format(
      "{} got {:.2f} % in {:.1f} core-seconds, {} {:.2f} % in {:.1f}: ", better.title(),
      100 * better.accuracy, better.core_seconds, worse.title(), 100 * worse.accuracy, worse.core_seconds);
  if (difference < margin) {
    return text + fmt::format(
                      "a difference of {:.2f} points, which {} test samples cannot tell from chance "
                      "(95 % margin {:.2f}).",
                      100 * difference, a.samples, 100 * margin);
  }
  return text + fmt::format("the former is better by {:.2f} points (95 % margin {:.2f}).", 100 * difference,
                            100 * margin);
}

}  // namespace

void add_compare(CLI::App& parser, CompareOptions& options) {
  parser.add_option("runs", options.runs, "Folders of finished runs; speed-up is over the first")->required();
  parser.footer(kExamples);
}

int compare(const CompareOptions& options) {
  std::vector<Run> runs;
  for (const std::string& folder : options.runs) runs.push_back(read_run(folder));
  print_table(runs);

  // The verdict: one synchronous model against an ensemble, if both are here and used the same cores.
  const auto cores = [](const Run& run) { return run.ranks * run.threads; };
  for (const Run& ensemble : runs) {
    if (ensemble.mode != "ensemble") continue;
    const auto twin = std::find_if(runs.begin(), runs.end(), [&](const Run& run) {
      return run.mode == "sync" && cores(run) == cores(ensemble);
    });
    if (twin != runs.end()) fmt::print("\nverdict: {}\n", sentence(*twin, ensemble));
  }
  fmt::print("\nrun folders:\n");
  for (const Run& run : runs) fmt::print("  {:<24} {}\n", run.title(), run.folder);
  return EXIT_SUCCESS;
}

}  // namespace convoke::app
