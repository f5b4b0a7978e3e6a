#include "cli/options.hpp"
#include "commands.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "convoke/study/analysis/card.hpp"

namespace convoke::app {
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
