#include "compare.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "convoke/core/error.hpp"
#include "convoke/core/utf8.hpp"
#include "convoke/report/comparison.hpp"

namespace convoke::app {
namespace {

constexpr const char* kCompareExamples = R"(Examples:
  convoke compare runs/one-rank runs/synchronous runs/ensemble    speed-up is over the first
  convoke report runs/one-rank runs/synchronous --output page.html     the same as a page, with curves
)";

report::RunResult read_result(const std::string& folder) {
  const report::RunRecord run = report::read_run(folder);
  if (run.complete()) return report::result_of(run);
  throw Error(
      fmt::format("{} is not there", (run.folder / "summary.json").string()),
      "name the folders of finished runs; a run that was interrupted has no summary yet (train --resume)");
}

std::vector<report::RunResult> read_results(const std::vector<std::string>& folders) {
  std::vector<report::RunResult> runs;
  std::vector<std::string> titles;
  for (const std::string& folder : folders) {
    runs.push_back(read_result(folder));
    titles.push_back(runs.back().name);
  }
  const std::vector<std::string> names = report::names_apart(std::move(titles), folders);
  for (std::size_t i = 0; i < runs.size(); ++i) runs[i].name = names[i];
  return runs;
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

}  // namespace

void add_compare(CLI::App& parser, CompareOptions& options) {
  parser.add_option("runs", options.runs, "Folders of finished runs; speed-up is over the first")->required();
  parser.footer(kCompareExamples);
}

int compare(const CompareOptions& options) {
  const std::vector<report::RunResult> runs = read_results(options.runs);
  print(report::side_by_side(runs));
  if (!report::tested_alike(runs)) {
    fmt::print("\nwarning: the runs were tested on different samples: their accuracies cannot be compared\n");
  }
  const report::Judgement judgement = report::judge(runs);
  for (const std::string& verdict : judgement.verdicts) fmt::print("\nverdict: {}\n", verdict);
  for (const std::string& why : judgement.unjudged) fmt::print("\nno verdict: {}\n", why);
  fmt::print("\nrun folders:\n");
  for (const report::RunResult& run : runs) fmt::print("  {:<24} {}\n", run.name, run.folder);
  return EXIT_SUCCESS;
}

}  // namespace convoke::app
