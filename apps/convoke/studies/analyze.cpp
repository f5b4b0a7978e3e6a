#include "cli/options.hpp"
#include "commands.hpp"

#include <fmt/format.h>

#include <optional>
#include <string>
#include <vector>

#include "convoke/core/text.hpp"
#include "convoke/metrics/json.hpp"
#include "convoke/os/atomic_file.hpp"
#include "convoke/report/study_page.hpp"
#include "convoke/run/checkpoint_interval.hpp"
#include "convoke/study/analysis/analysis.hpp"
#include "results/results.hpp"
#include "studies/study_results.hpp"

namespace convoke::app {
namespace {

/// `convoke study analyze`
struct StudyAnalyzeOptions {
  std::vector<std::string> tables;
  study::AnalysisOptions analysis;  ///< without what the options below say
  std::string again, machines, output, deadline, html, figures;
  std::optional<double> budget_core_hours;
  bool json = false;
};

constexpr const char* kAnalyzeHelp = R"(Examples:
  convoke study analyze studies/first                              the times of a study
  convoke study analyze studies/first --again studies/second       does a repetition agree?
  convoke study analyze times.csv --up-to 64 --deadline "10 min"   how many ranks are needed?
  convoke study analyze times.csv --machines prices.toml --reference "our cluster"
  convoke study analyze times.csv --machines prices.toml --html times.html --figures paper/
  convoke study analyze epoch-seconds.csv derived.csv --machine-devices 8

A table of times has a header. Its columns system, mode, ranks, threads, fraction (of the samples), batch and
variant describe a run; makespan_seconds, epoch_seconds, accuracy, core_seconds and others are its results.
Rows with the same description are repeats. docs/study-files.md lists all columns and their other names,
docs/advise.md the keys of machines.

Columns that follow from others (speedup, efficiency, decrease_percent, scaling_percent, cost_per_training)
are computed again. The analysis reports the values that do not agree.
)";

study::AnalysisOptions analysis_options(const StudyAnalyzeOptions& options) {
  study::AnalysisOptions analysis = options.analysis;
  if (!options.deadline.empty()) analysis.requirements.deadline_seconds = run::seconds_from(options.deadline);
  if (options.budget_core_hours)
    analysis.requirements.budget_core_seconds = 3600 * *options.budget_core_hours;
  if (!options.machines.empty()) analysis.machines = study::read_machines(options.machines);
  if (!options.again.empty()) analysis.again = read_measurements(options.again);
  return analysis;
}

void print(const study::Analysis& analysis) {
  for (const study::TextTable& table : study::tables(analysis)) fmt::print("{}\n", study::to_text(table));
  for (const std::string& remark : study::remarks(analysis)) fmt::print("{}\n", remark);
  for (const study::AuditFinding& finding : analysis.audit.findings) {
    fmt::print("{}: {} {}\n", finding.wrong ? "WRONG" : "note", finding.subject, finding.text);
  }
}

int study_analyze(const StudyAnalyzeOptions& options) {
  // 1. The tables and the questions.
  require_outputs(options.html, options.figures);
  if (!options.output.empty()) {
    for (const std::string& table : options.tables) os::require_other_file(options.output, table_of(table));
    os::require_other_file(options.output, table_of(options.again));
    os::require_other_file(options.output, options.machines);
    os::require_replaceable(options.output);
  }
  const study::AnalysisOptions wanted = analysis_options(options);
  std::vector<study::PublishedTable> tables;
  for (const std::string& file : options.tables) tables.push_back(read_measurements(file));

  // 2. The analysis.
  const study::Analysis analysis = study::analyze(tables, wanted);

  // 3. Print it, and write the files.
  const std::string json = metrics::to_json(study::to_settings(analysis), true) + "\n";
  if (!options.output.empty()) os::replace_text(options.output, json);
  if (options.json) {
    fmt::print("{}", json);
  } else {
    print(analysis);
  }
  if (options.html.empty() && options.figures.empty()) return EXIT_SUCCESS;
  std::vector<std::string> names;
  for (const std::string& file : options.tables) names.push_back(title_of(file));
  const report::Page page = report::study_page(join(names), analysis, {}, made_by_line());
  write_outputs(page, options.html, options.figures);
  return EXIT_SUCCESS;
}

}  // namespace

std::function<int()> add_study_analyze(CLI::App& parser) {
  auto options = std::make_shared<StudyAnalyzeOptions>();
  add_option(parser, "STUDY", options->tables, "STUDY", "Folders of studies, or tables of times")->required();
  add_option(parser, "--machine-devices", options->analysis.scaling.machine_devices, "N",
             "Number of cores or devices of the whole machine, to show the efficiency that is divided by it")
      ->check(in_range(1, 1'000'000'000));
  add_option(parser, "--up-to", options->analysis.scaling.up_to, "N",
             "Predict the times of 1, 2, 4, ... N workers by Amdahl's law")
      ->check(in_range(1, 1'000'000));
  add_option(parser, "--deadline", options->deadline, "TIME",
             "Recommend the smallest number of workers that ends in this time (\"90 s\", \"10 min\")");
  add_option(parser, "--budget", options->budget_core_hours, "HOURS",
             "Recommend a number of workers that takes at most this many core-hours")
      ->check(positive());
  add_option(parser, "--accuracy", options->analysis.requirements.accuracy, "SHARE",
             "Recommend workers whose model reaches this accuracy, and show the time until it is reached")
      ->check(in_range(0, 1));
  add_option(parser, "--again", options->again, "STUDY",
             "The same study, repeated: check that its means lie within these intervals");
  CLI::Option* machines = add_option(parser, "--machines", options->machines, "FILE.toml",
                                     "A file of machines and prices, to compute the cost of a training");
  add_option(parser, "--reference", options->analysis.reference, "NAME",
             "The machine that costs are compared with; the first by default")
      ->needs(machines);
  add_option(parser, "--target", options->analysis.relative_error, "SHARE",
             "The relative error of a mean that is precise enough")
      ->capture_default_str()
      ->check(in_range(1e-6, 1));
  add_option(parser, "--output", options->output, "FILE.json", "Write the analysis as JSON to this file");
  CLI::Option* html = add_option(parser, "--html", options->html, "FILE.html",
                                 "Write a page with charts, which needs no network connection");
  CLI::Option* figures = add_option(parser, "--figures", options->figures, "FOLDER",
                                    "Write the charts and tables for a paper into this folder");
  parser.add_flag("--json", options->json, "Print JSON instead of tables")->excludes(html)->excludes(figures);
  parser.footer(kAnalyzeHelp);
  return [options] { return study_analyze(*options); };
}

}  // namespace convoke::app
