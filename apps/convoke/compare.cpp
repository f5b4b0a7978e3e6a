#include "compare.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <optional>

#include "convoke/core/error.hpp"
#include "convoke/metrics/json_file.hpp"
#include "convoke/report/comparison.hpp"

namespace convoke::app {
namespace {

constexpr const char* kExamples = R"(Examples:
  convoke compare runs/one-rank runs/synchronous runs/ensemble    speed-up is over the first
  convoke report runs/one-rank runs/synchronous --output page.html     the same as a page, with curves
)";

report::RunResult read_run(const std::string& folder) {
  const std::string file = (std::filesystem::path(folder) / "summary.json").string();
  const std::optional<Settings> summary = metrics::read_json(file);
  if (!summary) {
    throw Error(
        fmt::format("{} cannot be read", file),
        "name the folders of finished runs; a run that was interrupted has no summary yet (train --resume)");
  }
  return report::result_of(*summary, folder, file);
}

}  // namespace

void add_compare(CLI::App& parser, CompareOptions& options) {
  parser.add_option("runs", options.runs, "Folders of finished runs; speed-up is over the first")->required();
  parser.footer(kExamples);
}

int compare(const CompareOptions& options) {
  std::vector<report::RunResult> runs;
  std::vector<std::string> titles;
  for (const std::string& folder : options.runs) {
    runs.push_back(read_run(folder));
    titles.push_back(runs.back().title());
  }
  const report::Table table = report::side_by_side(runs, titles);
  fmt::print("{:<22}", "");
  for (const std::string& title : titles) fmt::print("{:>24}", title);
  fmt::print("\n");
  for (const auto& row : table.rows) {
    fmt::print("{:<22}", row.front().text);
    for (std::size_t c = 1; c < row.size(); ++c) fmt::print("{:>24}", row[c].text);
    fmt::print("\n");
  }
  for (const std::string& verdict : report::verdicts(runs)) fmt::print("\nverdict: {}\n", verdict);
  fmt::print("\nrun folders:\n");
  for (const report::RunResult& run : runs) fmt::print("  {:<24} {}\n", run.title(), run.folder);
  return EXIT_SUCCESS;
}

}  // namespace convoke::app
