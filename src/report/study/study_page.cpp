#include "convoke/report/study_page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <map>
#include <set>

#include "convoke/core/pattern.hpp"
#include "convoke/core/text.hpp"
#include "convoke/study/analysis/analysis.hpp"
#include "report/run/sections.hpp"
#include "report/study/sections.hpp"

namespace convoke::report {
namespace {

// Converts a text that is a number, or a number with its unit, interval or marks, to a cell with that number.
Cell cell_of(const std::string& text) {
  static const Pattern kNumber(
      R"re((?:< )?(-?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?:e[+-]?\d+)?)(?: (?:%|±|to|\(|\[).*)?)re");
  Cell cell(text);
  if (const Match found = whole_match(text, kNumber); !found.empty())
    cell.value = fmt::format("{:.10g}", std::strtod(substituted(found[1], ",", "").c_str(), nullptr));
  return cell;
}

void add_tables(Page& page, const study::Analysis& analysis) {
  page.section("Tables");
  for (const study::TextTable& text : study::tables(analysis)) {
    page.heading(text.title);
    if (!text.note.empty()) page.paragraph(text.note);
    Table table{text.columns, {}};
    for (const std::vector<std::string>& texts : text.rows) {
      std::vector<Cell> row{texts.front()};
      for (std::size_t c = 1; c < texts.size(); ++c) row.push_back(cell_of(texts[c]));
      table.rows.push_back(std::move(row));
    }
    page.add(table);
  }
}

void add_overview(Page& page, const study::Analysis& analysis, const StudyOrigin& origin,
                  const std::string& made_by) {
  page.section("Overview");
  if (origin.missing > 0) {
    page.warning(fmt::format(
        "This study is not complete: at least {} more {} missing. If no job makes them, continue with:",
        format_count(origin.missing), origin.missing == 1 ? "run is" : "runs are"));
    page.code(origin.resume);
  }
  if (const std::string note = build_note(origin.environment); !note.empty()) page.warning(note);
  std::map<std::string, std::int64_t> marked;
  std::int64_t runs = 0, failed = 0;
  for (const study::MeasuredConfiguration& configuration : analysis.configurations) {
    runs += std::ssize(configuration.runs);
    failed += configuration.failed;
    for (const std::string& mark : configuration.marks) ++marked[mark];
  }
  for (const auto& [mark, configurations] : marked) {
    if (mark == "emulated") {
      page.warning(fmt::format(
          "{} of {} configurations {} marked \"emulated\": there were fewer cores than members, so the "
          "members trained one after another, each alone. The times are those of as many cores, without "
          "competition for memory and caches.",
          configurations, analysis.configurations.size(), configurations == 1 ? "is" : "are"));
      continue;
    }
    page.warning(fmt::format(
        "{} of {} configurations {} marked \"{}\": do not compare them with the others. They are separate "
        "series in the charts.",
        configurations, analysis.configurations.size(), configurations == 1 ? "is" : "are", mark));
  }
  if (failed > 0)
    page.warning(fmt::format("{} {} failed.", counted(failed, "run"), failed == 1 ? "has" : "have"));
  for (const study::AuditFinding& finding : analysis.audit.findings) {
    const std::string text = finding.subject + " " + finding.text;
    if (finding.wrong) {
      page.warning("Wrong: " + text);
    } else {
      page.paragraph(text);
    }
  }
  page.facts({{"Configurations", format_count(std::ssize(analysis.configurations))},
              {"Runs that count", format_count(runs)},
              {"Target for the relative error", fmt::format("{:g} %", 100 * analysis.relative_error)}});
  for (const std::string& remark : study::remarks(analysis)) page.paragraph(remark);
  page.paragraph(made_by);
}

void add_setup(Page& page, const StudyOrigin& origin) {
  if (origin.toml.empty()) return;
  page.section("Setup");
  if (!origin.command.empty()) {
    page.heading("The command that repeats the study");
    page.code(origin.command);
  }
  if (!origin.environment.empty()) {
    page.heading("Environment");
    Table table{{"property", "value"}, {}};
    for (const auto& [name, value] : environment_facts(origin.environment)) {
      const bool of_one_run = name == "Date" || name == "Ranks" || name == "Threads of a rank";
      if (!of_one_run) table.rows.push_back({name, value});
    }
    page.add(table);
  }
  page.heading("Study file");
  page.folded("study.toml", origin.toml);
}

}  // namespace

double largest_fraction(const study::Analysis& analysis) {
  double fraction = 0;
  for (const study::MeasuredConfiguration& configuration : analysis.configurations)
    fraction = std::max(fraction, configuration.at.fraction);
  return fraction;
}

std::vector<study::MeasuredConfiguration> whole_configurations(const study::Analysis& analysis) {
  const double fraction = largest_fraction(analysis);
  std::vector<study::MeasuredConfiguration> configurations;
  std::copy_if(analysis.configurations.begin(), analysis.configurations.end(),
               std::back_inserter(configurations), [&](const study::MeasuredConfiguration& configuration) {
                 return configuration.at.fraction == fraction;
               });
  return configurations;
}

std::string of_fraction(const study::Analysis& analysis) {
  std::set<double> fractions;
  for (const study::MeasuredConfiguration& configuration : analysis.configurations)
    fractions.insert(configuration.at.fraction);
  return of_fraction(fractions);
}

std::string of_fraction(const std::set<double>& fractions) {
  if (fractions.size() < 2) return "";
  const double largest = *fractions.rbegin();
  return fmt::format(" With {} of the samples.", largest == 1 ? "all" : study::fraction_text(largest));
}

Page study_page(const std::string& title, const study::Analysis& analysis, const StudyOrigin& origin,
                const std::string& made_by) {
  Page page(title, fmt::format("Study of {} configurations", analysis.configurations.size()));
  add_overview(page, analysis, origin, made_by);
  add_scaling(page, analysis);
  add_fractions(page, analysis);
  add_accuracy(page, analysis);
  add_phases(page, analysis);
  add_costs(page, analysis);
  add_pareto(page, analysis);
  add_tables(page, analysis);
  add_setup(page, origin);
  return page;
}

}  // namespace convoke::report
