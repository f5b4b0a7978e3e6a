#include "cli/options.hpp"
#include "commands.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "convoke/core/error.hpp"
#include "convoke/report/comparison.hpp"
#include "convoke/report/run_record.hpp"
#include "results/results.hpp"
#include "studies/study_results.hpp"

namespace convoke::app {
namespace {

struct ReportOptions {
  std::vector<std::string> runs;  ///< or studies
  std::string output;             ///< the page; empty: report.html in the folder of the run, or here
  std::string figures;            ///< a folder for its charts and tables; empty: none
};

constexpr const char* kReportHelp = R"(Examples:
  convoke report runs/first                                 writes runs/first/report.html
  convoke report runs/first --output first.html
  convoke report runs/first --figures paper/                and charts and tables for a paper
  convoke report runs/one runs/two --output both.html       compares; speed-up over the first
  convoke report studies/first                              writes studies/first/report.html
  convoke report times.csv --output times.html              a table of times from any source
  convoke report studies/first studies/second --output both.html     analyses both as one study

A page is one file, and needs no network connection. The page of a run that is not finished shows the results
so far.
)";

// Runs and studies have different kinds of pages.
void require_one_kind(const std::vector<std::filesystem::path>& named) {
  const auto other = std::ranges::find_if(
      named, [&](const std::filesystem::path& each) { return is_study(each) != is_study(named.front()); });
  if (other == named.end()) return;
  const bool study_first = is_study(named.front());
  throw Error(fmt::format("{} is a study, {} is a run: they cannot share a page",
                          (study_first ? named.front() : *other).string(),
                          (study_first ? *other : named.front()).string()),
              "pass only runs, or only studies and tables of times");
}

// Writes the page of a run, of a comparison of several runs, or of one or more studies analyzed together.
int report(const ReportOptions& options) {
  // 1. Check that a page can be written, before the long work.
  report::require_charts();
  const std::vector<std::filesystem::path> named(options.runs.begin(), options.runs.end());
  const std::filesystem::path& first = named.front();
  const bool one = named.size() == 1;
  const std::filesystem::path file = !options.output.empty() ? std::filesystem::path(options.output)
                                     : one && std::filesystem::is_directory(first) ? first / "report.html"
                                                                                   : "report.html";
  require_one_kind(named);

  // 2. Make the page.
  const report::Page page = [&] {
    if (is_study(first)) return study_page_of(named);
    std::vector<report::RunRecord> runs;
    for (const std::filesystem::path& folder : named) runs.push_back(read_run_and_recipe(folder));
    return one ? report::run_page(with_class_maps(std::move(runs.front())), made_by_line())
               : report::comparison_page(runs, made_by_line());
  }();

  // 3. Write the page, and the figures for a paper.
  require_outputs(file, options.figures);
  write_outputs(page, file, options.figures);
  return EXIT_SUCCESS;
}

}  // namespace

std::function<int()> add_report(CLI::App& parser) {
  auto options = std::make_shared<ReportOptions>();
  add_option(parser, "runs", options->runs, "RUN|STUDY",
             "Folders of runs, which are compared; or folders of studies and tables of times, which are "
             "analyzed as one study")
      ->required();
  add_option(parser, "--output", options->output, "FILE.html",
             "The page to write; by default report.html in the folder of the run or study, or in this "
             "folder if several are named");
  add_option(parser, "--figures", options->figures, "FOLDER",
             "Also write the charts (SVG and PDF), tables (LaTeX and CSV) and pictures (PNG) into this "
             "folder");
  parser.footer(kReportHelp);
  return [options] { return report(*options); };
}

}  // namespace convoke::app
