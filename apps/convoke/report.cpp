#include "report.hpp"

#include <fmt/format.h>

#include <filesystem>

#include "convoke/core/error.hpp"
#include "convoke/report/comparison_page.hpp"
#include "convoke/report/run_page.hpp"
#include "page_file.hpp"
#include "results.hpp"
#include "studies/study_results.hpp"

namespace convoke::app {
namespace {

constexpr const char* kExamples = R"(Examples:
  convoke report runs/first                                   runs/first/report.html
  convoke report runs/first --output first.html
  convoke report runs/first --figures paper/                  and its charts and tables for a paper
  convoke report runs/one-rank runs/two-ranks --output both.html     side by side; speed-up is over the first
  convoke report studies/first                                studies/first/report.html
  convoke report times.csv --output times.html                anybody's table of times
A page is one file that needs no network. A run that is under way or was stopped shows what it has so far.
)";

}  // namespace

void add_report(CLI::App& parser, ReportOptions& options) {
  parser
      .add_option("runs", options.runs,
                  "Folders of runs; several are compared. Or a study, or a table of times")
      ->required()
      ->type_name("RUN...|STUDY");
  parser
      .add_option("--output", options.output,
                  "The page (default: report.html in the folder of the run or study, else here)")
      ->type_name("FILE.html");
  parser
      .add_option(
          "--figures", options.figures,
          "Also write its charts as SVG and PDF, tables as LaTeX and CSV, and pictures as PNG, for a paper")
      ->type_name("FOLDER");
  parser.footer(kExamples);
}

int report(const ReportOptions& options) {
  // 1. Whether there can be a page, before anything takes time.
  report::require_charts();
  const std::filesystem::path first = options.runs.front();
  const bool one = options.runs.size() == 1;
  const std::filesystem::path file = !options.output.empty() ? std::filesystem::path(options.output)
                                     : one && std::filesystem::is_directory(first) ? first / "report.html"
                                                                                   : "report.html";
  for (const std::string& each : options.runs) {
    if (one || !is_study(each)) continue;
    throw Error(fmt::format("{}: a study has a page of its own", each), "name one study, or runs alone");
  }

  // 2. What it shows.
  const report::Page page = [&] {
    if (is_study(first)) return study_page_of(first);
    std::vector<report::RunRecord> runs;
    for (const std::string& folder : options.runs) runs.push_back(read_run_and_recipe(folder));
    return one ? report::run_page(runs.front(), made_by_line())
               : report::comparison_page(runs, made_by_line());
  }();

  // 3. As a page, and as figures for a paper.
  require_outputs(file, options.figures);
  write_outputs(page, file, options.figures);
  return EXIT_SUCCESS;
}

}  // namespace convoke::app
