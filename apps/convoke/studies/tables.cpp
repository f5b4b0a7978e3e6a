#include "cli/options.hpp"
#include "commands.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "convoke/study/analysis/card.hpp"
#include "convoke/study/analysis/pivot.hpp"
#include "studies/study_results.hpp"

namespace convoke::app {
namespace {

/// `convoke study table`
struct StudyTableOptions {
  std::vector<std::string> tables, only;
  study::PivotOptions pivot;
  bool markdown = false;
};

constexpr const char* kTableHelp = R"(Examples:
  convoke study table studies/first --show makespan_seconds,speedup,accuracy
  convoke study table first.csv --rows fraction --columns ranks --show makespan_seconds --only mode=sync
  convoke study table published.csv ours.csv --columns system --show decrease_percent --markdown

A coordinate is system, mode, ranks, threads, workers (ranks x threads), fraction, batch, variant or machine.
A quantity is a column of the tables (docs/study-files.md), or speedup, efficiency or decrease_percent, which
are relative to the configuration with the fewest ranks. Values are means with half of their 95 % interval.
)";

int study_table(const StudyTableOptions& options) {
  std::vector<study::PublishedTable> tables;
  for (const std::string& file : options.tables) tables.push_back(read_measurements(file));
  study::PivotOptions pivot = options.pivot;
  for (const std::string& only : options.only) pivot.only.push_back(study::only_from(only));
  const study::TextTable table = study::pivot(study::analyze(tables, {}), tables, pivot);
  fmt::print("{}", options.markdown ? study::to_markdown(table) : study::to_text(table));
  return EXIT_SUCCESS;
}

}  // namespace

std::function<int()> add_study_table(CLI::App& parser) {
  auto options = std::make_shared<StudyTableOptions>();
  add_option(parser, "STUDY", options->tables, "STUDY", "Folders of studies, or tables of times")->required();
  add_option(parser, "--rows", options->pivot.rows, "COORDINATE",
             "The coordinate with a row for each of its values")
      ->capture_default_str();
  add_option(parser, "--columns", options->pivot.columns, "COORDINATE",
             "The coordinate with columns for each of its values");
  add_option(parser, "--show", options->pivot.show, "QUANTITY,...",
             "The quantities to show, separated by commas")
      ->required()
      ->delimiter(',');
  add_option(parser, "--only", options->only, "COORDINATE=VALUE",
             "Show only the configurations that have this value")
      ->allow_extra_args(false);
  parser.add_flag("--markdown", options->markdown, "Print the table in Markdown");
  parser.footer(kTableHelp);
  return [options] { return study_table(*options); };
}

namespace {

/// `convoke study card`
struct StudyCardOptions {
  std::vector<std::string> folders;
  bool overview = false, markdown = false;
};

constexpr const char* kCardHelp = R"(Examples:
  convoke study card docs/results/mnist-ddp                    each published figure, and ours
  convoke study card docs/results/mnist-ddp --markdown         for a page
  convoke study card results/first results/second --overview   a row for each publication

The file card.toml in the folder names the claims of a publication, its table and ours. A figure is followed or
contradicted by the 95 % interval of ours, or out of reach: not measured, or without an interval.
docs/analysis.md describes the file.
)";

int study_card(const StudyCardOptions& options) {
  std::vector<study::Card> cards;
  for (const std::string& folder : options.folders) cards.push_back(study::read_card(folder));
  std::vector<study::TextTable> tables;
  if (options.overview) {
    tables.push_back(study::overview(cards, options.markdown));
  } else {
    for (const study::Card& card : cards) tables.push_back(study::table_of(card));
  }
  for (std::size_t i = 0; i < tables.size(); ++i) {
    fmt::print("{}{}", i > 0 ? "\n" : "",
               options.markdown ? study::to_markdown(tables[i]) : study::to_text(tables[i]));
  }
  return EXIT_SUCCESS;
}

}  // namespace

std::function<int()> add_study_card(CLI::App& parser) {
  auto options = std::make_shared<StudyCardOptions>();
  add_option(parser, "folders", options->folders, "FOLDER", "Folders with a card.toml")->required();
  parser.add_flag("--overview", options->overview, "Print one table with a row for each folder");
  parser.add_flag("--markdown", options->markdown, "Print tables in Markdown");
  parser.footer(kCardHelp);
  return [options] { return study_card(*options); };
}

}  // namespace convoke::app
