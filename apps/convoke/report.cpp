#include "report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "convoke/core/error.hpp"
#include "convoke/report/comparison.hpp"
#include "convoke/report/run_record.hpp"
#include "page_file.hpp"
#include "results.hpp"
#include "studies/study_results.hpp"

namespace convoke::app {
namespace {

constexpr const char* kReportExamples = R"(Examples:
  convoke report runs/first                                   runs/first/report.html
  convoke report runs/first --output first.html
  convoke report runs/first --figures paper/                  and its charts and tables for a paper
  convoke report runs/one-rank runs/two-ranks --output both.html     side by side; speed-up is over the first
  convoke report studies/first                                studies/first/report.html
  convoke report times.csv --output times.html                anybody's table of times
  convoke report studies/first studies/second --output both.html     taken together as one study
A page is one file that needs no network. A run that is under way or was stopped shows what it has so far.
)";

// They have pages of different kinds.
void require_one_kind(const std::vector<std::filesystem::path>& named) {
  const auto other = std::find_if(named.begin(), named.end(), [&](const std::filesystem::path& each) {
    return is_study(each) != is_study(named.front());
  });
  if (other == named.end()) return;
  const bool study_first = is_study(named.front());
  throw Error(fmt::format("{} is a study, and {} is none: they cannot share a page",
                          (study_first ? named.front() : *other).string(),
                          (study_first ? *other : named.front()).string()),
              "name runs alone, or studies and tables of times alone");
}

}  // namespace

void add_report(CLI::App& parser, ReportOptions& options) {
  parser
      .add_option("runs", options.runs,
                  "Folders of runs; several are compared. Or studies or tables of times; several are taken "
                  "together as one")
      ->required()
      ->type_name("RUN...|STUDY...");
  parser
      .add_option("--output", options.output,
                  "The page (default: report.html in the folder of the run or study, else here)")
      ->type_name("FILE.html");
  parser
      .add_option(
          "--figures", options.figures,
          "Also write its charts as SVG and PDF, tables as LaTeX and CSV, and pictures as PNG, for a paper")
      ->type_name("FOLDER");
  parser.footer(kReportExamples);
}

int report(const ReportOptions& options) {
  // 1. Whether there can be a page, before anything takes time.
  report::require_charts();
  const std::vector<std::filesystem::path> named(options.runs.begin(), options.runs.end());
  const std::filesystem::path& first = named.front();
  const bool one = named.size() == 1;
  const std::filesystem::path file = !options.output.empty() ? std::filesystem::path(options.output)
                                     : one && std::filesystem::is_directory(first) ? first / "report.html"
                                                                                   : "report.html";
  require_one_kind(named);

  // 2. What it shows.
  const report::Page page = [&] {
    if (is_study(first)) return study_page_of(named);
    std::vector<report::RunRecord> runs;
    for (const std::filesystem::path& folder : named) runs.push_back(read_run_and_recipe(folder));
    return one ? report::run_page(runs.front(), made_by_line())
               : report::comparison_page(runs, made_by_line());
  }();

  // 3. As a page, and as figures for a paper.
  require_outputs(file, options.figures);
  write_outputs(page, file, options.figures);
  return EXIT_SUCCESS;
}

}  // namespace convoke::app
