#pragma once
#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace convoke::app {

struct ReportOptions {
  std::vector<std::string> runs;  ///< or studies
  std::string output;             ///< the page; empty: report.html in the folder of the run, or here
  std::string figures;            ///< a folder for its charts and tables; empty: none
};

void add_report(CLI::App& parser, ReportOptions& options);

/// Writes the page of a run, of a comparison of several, or of a study or several taken
/// together.
int report(const ReportOptions& options);

}  // namespace convoke::app
