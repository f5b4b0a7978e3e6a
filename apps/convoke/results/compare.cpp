#include "cli/options.hpp"
#include "commands.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "convoke/core/error.hpp"
#include "convoke/core/text.hpp"
#include "convoke/report/comparison.hpp"
#include "convoke/study/tables/text_table.hpp"
#include "results/results.hpp"

namespace convoke::app {
namespace {

struct CompareOptions {
  std::vector<std::string> runs;
};

constexpr const char* kCompareHelp = R"(Examples:
  convoke compare runs/one-rank runs/synchronous runs/ensemble    speed-up is over the first run
  convoke compare runs/sweep-*                                    ranked by validation, with the
                                                                  keys that differ
  convoke report runs/one-rank runs/synchronous --output page.html
                                                                  a page with curves
)";

report::RunRecord read_complete(const std::string& folder) {
  report::RunRecord run = read_run_and_recipe(folder);
  if (run.complete()) return run;
  throw Error(fmt::format("{} does not exist", (run.folder / "summary.json").string()),
              "pass the folders of finished runs; an interrupted run has no summary yet (train --resume)");
}

/// Finished runs: their results and the keys of their recipes, by the same names.
struct Finished {
  std::vector<report::RunResult> results;
  std::vector<report::NamedKeys> recipes;
};

Finished read_finished(const std::vector<std::string>& folders) {
  Finished runs;
  std::vector<std::string> titles;
  for (const std::string& folder : folders) {
    const report::RunRecord run = read_complete(folder);
    runs.results.push_back(report::result_of(run));
    runs.recipes.push_back({"", report::recipe_keys(run)});
    titles.push_back(runs.results.back().name);
  }
  const std::vector<std::string> names = report::names_apart(std::move(titles), folders);
  for (std::size_t i = 0; i < names.size(); ++i) runs.results[i].name = runs.recipes[i].name = names[i];
  return runs;
}

void print_fitted(const report::Table& table, std::size_t left) {
  std::vector<std::vector<std::string>> rows{table.columns};
  for (const auto& row : table.rows) {
    rows.emplace_back();
    for (const report::Cell& cell : row) rows.back().push_back(cell.text);
  }
  fmt::print("{}", study::aligned(rows, left));
}

void print_ranking(const Finished& runs) {
  const report::Ranking ranking = report::ranked(runs.results, runs.recipes);
  const report::Table differences = report::differences("key", runs.recipes);
  const bool shown = ranking.table.columns.size() > 5;  // with the keys, or there are none
  if (!ranking.table.rows.empty()) print_fitted(ranking.table, 2);
  if (!ranking.note.empty()) fmt::print("{}\n\n", ranking.note);
  for (const std::string& warning : ranking.warnings) fmt::print("warning: {}\n\n", warning);
  if (shown || differences.rows.empty()) return;
  fmt::print("The recipes differ in:\n");
  print_fitted(differences, differences.columns.size());
  fmt::print("\n");
}

void print(const report::Table& table) {
  constexpr std::size_t kFirst = 22, kNarrowest = 24;
  const auto width = [&](std::size_t c) {
    return c == 0 ? kFirst : std::max(kNarrowest, character_count(table.columns[c]) + 2);
  };
  fmt::print("{:<{}}", "", kFirst);
  for (std::size_t c = 1; c < table.columns.size(); ++c) fmt::print("{:>{}}", table.columns[c], width(c));
  fmt::print("\n");
  for (const auto& row : table.rows) {
    fmt::print("{:<{}}", row.front().text, kFirst);
    for (std::size_t c = 1; c < row.size(); ++c) fmt::print("{:>{}}", row[c].text, width(c));
    fmt::print("\n");
  }
}

// Prints finished runs ranked by validation accuracy, with the recipe keys in which they differ, then side by
// side with the speed-up over the first. For an ensemble and a synchronous run on equally many cores, says
// which is better, or why there is no verdict.
int compare(const CompareOptions& options) {
  const Finished finished = read_finished(options.runs);
  const std::vector<report::RunResult>& runs = finished.results;
  if (runs.size() > 1) print_ranking(finished);
  print(report::side_by_side(runs));
  if (!report::tested_alike(runs)) {
    fmt::print("\nwarning: the runs were tested on different samples: their accuracies cannot be compared\n");
  }
  const report::RunComparison comparison = report::compare_runs(runs);
  for (const std::string& verdict : comparison.verdicts) fmt::print("\nverdict: {}\n", verdict);
  for (const std::string& why : comparison.not_compared) fmt::print("\nno verdict: {}\n", why);
  fmt::print("\nrun folders:\n");
  for (const report::RunResult& run : runs) fmt::print("  {:<24} {}\n", run.name, run.folder);
  return EXIT_SUCCESS;
}

}  // namespace

std::function<int()> add_compare(CLI::App& parser) {
  auto options = std::make_shared<CompareOptions>();
  add_option(parser, "runs", options->runs, "RUN", "Folders of finished runs; speed-up is over the first")
      ->required();
  parser.footer(kCompareHelp);
  return [options] { return compare(*options); };
}

}  // namespace convoke::app
