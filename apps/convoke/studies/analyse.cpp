#include "studies/analyse.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "convoke/core/error.hpp"
#include "convoke/core/text.hpp"
#include "convoke/metrics/json.hpp"
#include "convoke/os/atomic_file.hpp"
#include "convoke/report/study_page.hpp"
#include "convoke/run/checkpoint_interval.hpp"
#include "convoke/study/analysis/analysis.hpp"
#include "convoke/study/analysis/analysis_tables.hpp"
#include "page_file.hpp"
#include "results.hpp"

namespace convoke::app {
namespace {

constexpr const char* kAnalyseExamples = R"(Examples:
  convoke study analyse studies/first/measurements.csv          what a study has measured
  convoke study analyse first/measurements.csv --again second/measurements.csv   does it say the same again?
  convoke study analyse times.csv --up-to 64 --deadline "10 min"   how many ranks are needed?
  convoke study analyse times.csv --machines prices.toml --reference "our cluster"
  convoke study analyse times.csv --machines prices.toml --html times.html --figures paper/
  convoke study analyse epoch-seconds.csv derived.csv --machine-devices 8   a paper's tables, derived again
A table of times has a header. Of its columns, system, mode, ranks, threads, portion (of the samples), batch and
variant say what was run, and makespan_seconds, epoch_seconds, accuracy, core_seconds, ... what it took; rows alike
in the former are repeats. docs/formats.md has all columns and other names for them, and the keys of machines.
Columns that follow from others (speedup, efficiency, decrease_percent, scaling_percent, cost_per_training, ...)
are derived again, and what does not follow is said.
)";

study::AnalysisOptions analysis_options(const StudyAnalyseOptions& options) {
  study::AnalysisOptions analysis;
  analysis.scaling = {.machine_devices = options.machine_devices, .up_to = options.up_to};
  if (!options.deadline.empty()) analysis.wishes.deadline_seconds = run::seconds_from(options.deadline);
  if (options.budget_core_hours) analysis.wishes.budget_core_seconds = 3600 * *options.budget_core_hours;
  analysis.wishes.accuracy = options.accuracy;
  if (!options.machines.empty()) analysis.machines = study::read_machines(options.machines);
  analysis.study = std::filesystem::path(options.tables.front()).parent_path();
  if (analysis.study.empty()) analysis.study = ".";
  analysis.reference = options.reference;
  if (!options.again.empty()) analysis.again = study::read_table(options.again);
  analysis.relative_error = options.target;
  return analysis;
}

void print(const study::Analysis& analysis) {
  for (const study::TextTable& table : study::tables(analysis)) fmt::print("{}\n", study::to_text(table));
  for (const std::string& remark : study::remarks(analysis)) fmt::print("{}\n", remark);
  for (const study::AuditFinding& finding : analysis.audit.findings) {
    fmt::print("{}: {} {}\n", finding.wrong ? "WRONG" : "note", finding.subject, finding.text);
  }
}

}  // namespace

void add_study_analyse(CLI::App& parser, StudyAnalyseOptions& options) {
  parser.add_option("tables", options.tables, "Tables of times (CSV)")->required()->type_name("FILE.csv");
  parser
      .add_option("--machine-devices", options.machine_devices,
                  "Devices of the whole machine: also show the efficiency that is divided by them")
      ->check(CLI::Range(1, 1'000'000'000));
  parser
      .add_option("--up-to", options.up_to, "Predict for 1, 2, 4, ... workers up to so many, by Amdahl's law")
      ->check(CLI::Range(1, 1'000'000));
  parser
      .add_option("--deadline", options.deadline,
                  "Recommend the fewest workers that are done in this time (\"90 s\", \"10 min\")")
      ->type_name("TIME");
  parser
      .add_option("--budget", options.budget_core_hours,
                  "Recommend workers that take at most so many core-hours")
      ->type_name("CORE-HOURS")
      ->check(CLI::Range(1e-9, 1e12));
  parser
      .add_option("--accuracy", options.accuracy,
                  "Recommend workers whose model is at least as accurate, 0 to 1, and show how long "
                  "training took to it")
      ->check(CLI::Range(0.0, 1.0));
  parser
      .add_option("--again", options.again,
                  "The table of the same study made once more: do its means lie within these intervals?")
      ->type_name("FILE.csv");
  CLI::Option* machines =
      parser.add_option("--machines", options.machines, "Machines and their prices: costs of a training")
          ->type_name("FILE.toml");
  parser
      .add_option("--reference", options.reference,
                  "The machine that costs are compared with (default: the first)")
      ->needs(machines)
      ->type_name("NAME");
  parser.add_option("--target", options.target, "Relative error of a mean that is precise enough")
      ->capture_default_str()
      ->check(CLI::Range(1e-6, 1.0));
  parser.add_option("--output", options.output, "Write the findings as JSON to this file")
      ->type_name("analysis.json");
  CLI::Option* html =
      parser.add_option("--html", options.html, "Write them as a page with charts, which needs no network")
          ->type_name("FILE");
  CLI::Option* figures = parser
                             .add_option("--figures", options.figures,
                                         "Write its charts and tables as files for a paper into this folder")
                             ->type_name("FOLDER");
  parser.add_flag("--json", options.json, "Print them as JSON instead of tables")
      ->excludes(html)
      ->excludes(figures);
  parser.footer(kAnalyseExamples);
}

int study_analyse(const StudyAnalyseOptions& options) {
  // 1. The tables, and what is asked of them.
  require_outputs(options.html, options.figures);
  if (!options.output.empty()) os::require_replaceable(options.output);
  const study::AnalysisOptions wanted = analysis_options(options);
  std::vector<study::PublishedTable> tables;
  for (const std::string& file : options.tables) tables.push_back(study::read_table(file));

  // 2. What follows from them.
  const study::Analysis analysis = study::analyse(tables, wanted);

  // 3. Say it.
  const std::string json = metrics::to_json(study::to_settings(analysis), true) + "\n";
  if (!options.output.empty()) os::replace_text(options.output, json);
  if (options.json) {
    fmt::print("{}", json);
  } else {
    print(analysis);
  }
  if (options.html.empty() && options.figures.empty()) return EXIT_SUCCESS;
  std::vector<std::string> names;
  for (const std::string& file : options.tables)
    names.push_back(std::filesystem::path(file).filename().string());
  const report::Page page = report::study_page(join(names), analysis, {}, made_by_line());
  write_outputs(page, options.html, options.figures);
  return EXIT_SUCCESS;
}

}  // namespace convoke::app
