#include "convoke/report/comparison.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <set>

#include "convoke/core/lookup.hpp"
#include "convoke/core/text.hpp"
#include "convoke/data/dataset.hpp"
#include "report/run/sections.hpp"

namespace convoke::report {
namespace {

constexpr const char* kTestedOnOthers =
    "The runs were tested on different samples: their accuracies cannot be compared.";

/// A run, its name in the comparison, and its results (empty for an incomplete run).
struct Compared {
  const RunRecord& run;
  std::string name;
  RunResult result;
};

std::vector<Compared> named(std::span<const RunRecord> runs) {
  std::vector<Compared> compared;
  std::vector<std::string> titles, folders;
  for (const RunRecord& run : runs) {
    compared.push_back({run, {}, run.complete() ? result_of(run) : RunResult()});
    titles.push_back(run.complete() ? compared.back().result.name : run.name());
    folders.push_back(run.folder.string());
  }
  const std::vector<std::string> names = names_apart(std::move(titles), folders);
  for (std::size_t i = 0; i < compared.size(); ++i) compared[i].name = compared[i].result.name = names[i];
  return compared;
}

std::vector<Compared> complete(const std::vector<Compared>& runs) {
  std::vector<Compared> some;
  for (const Compared& each : runs) {
    if (each.run.complete()) some.push_back(each);
  }
  return some;
}

void add_ranking(Page& page, const std::vector<Compared>& runs, const std::vector<RunResult>& results) {
  std::vector<NamedKeys> recipes;
  for (const Compared& each : runs) recipes.push_back({each.name, recipe_keys(each.run)});
  const Ranking ranking = ranked(results, recipes);
  for (const std::string& warning : ranking.warnings) page.warning(warning);
  if (!ranking.table.rows.empty()) page.add(ranking.table);
  if (!ranking.note.empty()) page.paragraph(ranking.note);
}

void add_results(Page& page, const std::vector<Compared>& runs, const std::string& made_by) {
  page.section("Side by side");
  for (const Compared& each : runs) {
    if (const Workers workers = each.run.workers(); workers.oversubscribed()) {
      page.warning(fmt::format("{}: {}", each.name, oversubscription_note(workers)));
    }
    if (!each.run.complete()) {
      page.warning(fmt::format("{} is not complete: there is no summary.json. Only the curves include it.",
                               each.run.folder.string()));
    } else if (data::is_synthetic(each.result.provenance)) {
      page.warning(fmt::format("{}: {}", each.name, data::provenance_note(each.result.provenance)));
    }
    if (each.result.resumed) {
      page.warning(fmt::format(
          "{}: its times are only those since it was resumed, so this page leaves them out.", each.name));
    }
  }
  std::vector<RunResult> results;
  for (const Compared& each : complete(runs)) results.push_back(each.result);
  if (!results.empty()) {
    if (!tested_alike(results)) page.warning(kTestedOnOthers);
    if (results.size() > 1) add_ranking(page, complete(runs), results);
    page.add(side_by_side(results));
    const bool votes = std::ranges::any_of(results, [](const RunResult& r) { return r.members > 1; });
    page.paragraph(fmt::format(
        "Speed-up is the makespan of the first run over that of each.{}",
        votes ? " Accuracy, precision, recall and F1 of an ensemble are those of its vote." : ""));
    const RunComparison comparison = compare_runs(results);
    for (const std::string& verdict : comparison.verdicts) page.paragraph("Verdict: " + verdict);
    for (const std::string& why : comparison.not_compared) page.paragraph("No verdict: " + why);
  }
  page.paragraph(made_by);
}

void add_common_curves(Page& page, const std::vector<Compared>& runs) {
  constexpr std::array kQuantities{Quantity{"loss", "Training loss", "loss", false},
                                   Quantity{"validation_loss", "Validation loss", "loss", false},
                                   Quantity{"accuracy", "Training accuracy", "%", true},
                                   Quantity{"validation_accuracy", "Validation accuracy", "%", true},
                                   Quantity{"learning_rate", "Learning rate", "learning rate", false}};
  page.section("Curves");
  std::vector<Chart> charts;
  for (const Quantity& of : kQuantities) {
    std::vector<EpochCurve> curves;
    for (const Compared& each : runs) {
      curves.push_back(mean_curve(each.run, of.key));
      curves.back().name = each.name;
    }
    Chart chart =
        curve_chart(of.title, "For ensembles, the mean over the members.", of.axis, curves, of.share);
    if (!chart.table.rows.empty()) charts.push_back(std::move(chart));
  }
  if (charts.empty()) {
    page.paragraph("None of the runs has completed an epoch.");
  } else {
    page.side_by_side(charts);
  }
}

std::string kind_of(const RunResult& run) {
  return !run.ensemble ? "synchronous" : run.one_member.empty() ? "ensemble" : "one member";
}

// Returns the name of a run's line in charts; runs whose threads shared cores have a separate line.
std::string line_of(const RunResult& run) {
  return kind_of(run) + (run.workers.oversubscribed() ? " (oversubscribed)" : "");
}

// Draws one line for synchronous runs and one for ensembles, over the cores that they used.
Chart speed_up_chart(const std::vector<Compared>& runs, bool efficiency) {
  const RunResult& first = runs.front().result;
  Chart chart{Chart::Kind::kLine,
              efficiency ? "Efficiency" : "Speed-up",
              efficiency ? "Speed-up divided by the ratio of cores, relative to the first run."
                         : "Makespan of the first run over that of each.",
              "cores",
              efficiency ? "%" : "",
              {{"cores"}, {}}};
  chart.of_workers = true;
  std::vector<const RunResult*> order;
  for (const Compared& each : runs) order.push_back(&each.result);
  std::ranges::stable_sort(
      order, [](const RunResult* a, const RunResult* b) { return a->workers.cores < b->workers.cores; });
  std::set<std::string, std::greater<>> lines;  // synchronous runs first
  for (const RunResult* run : order) {
    lines.insert(line_of(*run));
    if (run->workers.oversubscribed()) chart.apart.emplace(line_of(*run), kind_of(*run));
  }
  chart.table.columns.insert(chart.table.columns.end(), lines.begin(), lines.end());
  chart.table.columns.emplace_back("ideal");
  for (const RunResult* run : order) {
    const double ideal = static_cast<double>(run->workers.cores) / static_cast<double>(first.workers.cores);
    const double speed_up = first.makespan / run->makespan;
    std::vector<Cell> row{Cell::count(run->workers.cores)};
    for (const std::string& line : lines) {
      row.push_back(line_of(*run) != line ? Cell("–")
                    : efficiency          ? Cell::percent(speed_up / ideal)
                                          : Cell::number(speed_up, 3));
    }
    row.push_back(efficiency ? Cell::percent(1) : Cell::number(ideal, 3));
    chart.table.rows.push_back(std::move(row));
  }
  return chart;
}

Chart phase_chart(const std::vector<Compared>& runs) {
  Chart chart{
      Chart::Kind::kBar,
      "Where the time went",
      "Means over the ranks. Communication is the part of training steps in which a rank only waits for "
      "others. A ! before a name marks a run whose threads shared cores.",
      "",
      "seconds",
      {{"run"}, {}}};
  for (const Phase& phase : kPhases) chart.table.columns.emplace_back(phase.name);
  for (const Compared& each : runs) {
    const bool marked = each.result.workers.oversubscribed();  // the end of a long name may be cut
    std::vector<Cell> row{(marked ? "! " : "") + each.name};
    for (const Phase& phase : kPhases) {
      row.push_back(Cell::seconds(number_at(each.run.summary, fmt::format("phases.{}.mean", phase.key))));
    }
    chart.table.rows.push_back(std::move(row));
  }
  return chart;
}

// The times of resumed runs are not those of all their work.
void add_scaling(Page& page, const std::vector<Compared>& all) {
  std::vector<Compared> runs;
  for (const Compared& each : all) {
    if (!each.result.resumed) runs.push_back(each);
  }
  if (runs.size() < 2) return;
  const bool speed_ups = !all.front().result.resumed;  // they are relative to the first run
  page.section("Time");
  std::vector<std::string> unlike;
  for (const char* key :
       {"train.epochs", "train.batch", "train.precision", "data.path", "data.fraction", "model"}) {
    const Value* first = value_at(runs.front().run.recipe, key);
    if (std::ranges::any_of(runs, [&](const Compared& each) {
          const Value* value = value_at(each.run.recipe, key);
          return (value == nullptr) != (first == nullptr) || (value != nullptr && !(*value == *first));
        })) {
      unlike.emplace_back(key);
    }
  }
  if (speed_ups && !unlike.empty()) {
    page.warning(
        fmt::format("The runs differ in {}, so their speed-up compares different work.", join(unlike)));
  }
  std::vector<Chart> charts;
  if (speed_ups && std::ranges::any_of(runs, [&](const Compared& each) {
        return each.result.workers.cores != runs.front().result.workers.cores;
      })) {
    charts.push_back(speed_up_chart(runs, false));
    charts.push_back(speed_up_chart(runs, true));
  }
  charts.push_back(phase_chart(runs));
  page.side_by_side(charts);
}

void add_differences(Page& page, const std::vector<Compared>& runs) {
  page.section("Differences");
  std::vector<NamedKeys> recipes, machines;
  for (const Compared& each : runs) {
    recipes.push_back({each.name, recipe_keys(each.run)});
    const auto facts = environment_facts(each.run.environment);
    machines.push_back({each.name, {facts.begin(), facts.end()}});
    machines.back().keys.erase("Date");
  }
  const auto add = [&](const char* heading, const char* what, const char* none,
                       const std::vector<NamedKeys>& rows) {
    page.heading(heading);
    const Table table = differences(what, rows);
    if (table.rows.empty()) {
      page.paragraph(none);
    } else {
      page.add(table);
    }
  };
  add("Recipes", "key", "All recipes are equal.", recipes);
  add("Machines", "property", "All machines and their software are equal.", machines);
}

void add_runs(Page& page, const std::vector<Compared>& runs) {
  page.section("Runs");
  Table table{{"run", "folder", "date", "test samples"}, {}};
  for (const Compared& each : runs) {
    table.rows.push_back({each.name, each.run.folder.string(), text_at(each.run.environment, "date"),
                          each.run.complete() ? Cell::count(each.result.samples) : Cell("–")});
  }
  page.add(table);
  page.heading("The commands that repeat the runs");
  std::string commands;
  for (const Compared& each : runs) commands += repeating_command(each.run) + "\n";
  page.code(commands);
}

}  // namespace

Page comparison_page(std::span<const RunRecord> runs, const std::string& made_by) {
  const std::vector<Compared> compared = named(runs);
  std::set<std::string> names;
  for (const RunRecord& run : runs) names.insert(run.name());
  Page page(join(std::vector<std::string>(names.begin(), names.end())),
            fmt::format("{} runs compared", runs.size()));
  add_results(page, compared, made_by);
  add_common_curves(page, compared);
  add_scaling(page, complete(compared));
  add_differences(page, compared);
  add_runs(page, compared);
  return page;
}

}  // namespace convoke::report
