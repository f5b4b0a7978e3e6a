#include "convoke/study/analysis/analysis.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <utility>

#include "convoke/core/error.hpp"
#include "convoke/study/analysis/replication.hpp"

namespace convoke::study {
namespace {

// False for a row that has only derived figures: it is not a run.
bool is_run(const Measurement& m) {
  return m.has_mark("failed") || !m.further.empty() ||
         std::ranges::any_of(kQuantities,
                             [&](const Quantity& quantity) { return (m.*quantity.member).has_value(); });
}

std::vector<MeasuredConfiguration> configurations_of_runs(std::span<const TableRow> rows) {
  std::vector<std::vector<Measurement>> studies;
  for (const TableRow& row : rows) {
    studies.resize(std::max(studies.size(), row.table + 1));
    if (is_run(row.measurement)) studies[row.table].push_back(row.measurement);
  }
  return configurations_of(studies);
}

// Runs are made in random order. Systems, modes, batches and variants keep the order of first appearance;
// within each, fractions and workers are ascending.
std::vector<MeasuredConfiguration> in_order(std::vector<MeasuredConfiguration> configurations) {
  std::vector<Coordinates> families;
  const auto family_of = [&](const Coordinates& at) {
    const auto same = [&](const Coordinates& family) { return same_family(family, at); };
    const auto place = std::ranges::find_if(families, same) - families.begin();
    if (place == std::ssize(families)) families.push_back(at);
    return place;
  };
  for (const MeasuredConfiguration& configuration : configurations) family_of(configuration.at);
  std::ranges::stable_sort(configurations,
                           [&](const MeasuredConfiguration& a, const MeasuredConfiguration& b) {
                             return std::tuple(family_of(a.at), a.at.fraction, a.at.workers(), a.at.ranks) <
                                    std::tuple(family_of(b.at), b.at.fraction, b.at.workers(), b.at.ranks);
                           });
  return configurations;
}

// A run that failed early may not have recorded its machine.
bool names_its_machine(const TableRow& row) {
  return !row.measurement.machine.empty() || !row.measurement.has_mark("failed");
}

// Returns the machine of all rows, which then need not name it; "" if there are several, which all rows name.
std::string take_machine(std::vector<TableRow>& rows) {
  const auto first = std::ranges::find_if(rows, names_its_machine);
  const std::string machine = first == rows.end() ? "" : first->measurement.machine;
  const bool one = std::ranges::all_of(rows, [&](const TableRow& row) {
    return row.measurement.machine == machine || !names_its_machine(row);
  });
  for (TableRow& row : rows) {
    std::string& own = row.measurement.machine;
    if (one) {
      own.clear();
    } else if (own.empty() && names_its_machine(row)) {
      own = kUnknownMachine;
    }
  }
  return one ? machine : "";
}

// Returns the rows of the repeated study with the machine of the first; a different machine is noted
// separately.
std::vector<TableRow> rows_made_again(const PublishedTable& again, Analysis& analysis) {
  std::vector<TableRow> rows = again.rows;
  const bool several = std::ranges::any_of(
      analysis.configurations, [](const MeasuredConfiguration& one) { return !one.at.machine.empty(); });
  const std::string machine = several ? "" : take_machine(rows);
  if (machine.empty() && !several) {  // only the second has several: those of the first one's machine count
    for (TableRow& row : rows) {
      if (row.measurement.machine == analysis.machine) row.measurement.machine.clear();
    }
  }
  if (!machine.empty() && !analysis.machine.empty() && machine != analysis.machine) {
    analysis.notices.push_back(
        fmt::format("the second study ran on another machine: {} instead of {}", machine, analysis.machine));
  }
  return rows;
}

// A prediction among measurements would be read as one.
void require_one_kind(std::span<const TableRow> rows) {
  const auto predicted = [](const TableRow& row) { return row.measurement.has_mark("predicted"); };
  const auto prediction = std::ranges::find_if(rows, predicted);
  const auto measured = std::ranges::find_if_not(rows, predicted);
  if (prediction == rows.end() || measured == rows.end()) return;
  throw Error(fmt::format("{}: is a prediction, and {} is not", prediction->where, measured->where),
              "a table has either measurements or rows with the mark \"predicted\": pass them separately");
}

Analysis analyze_rows(std::vector<TableRow> rows, const AnalysisOptions& options) {
  require_one_kind(rows);
  Analysis analysis;
  analysis.machine = take_machine(rows);
  analysis.relative_error = options.relative_error;
  analysis.configurations = in_order(configurations_of_runs(rows));
  analysis.curves = scaling_curves(analysis.configurations, rows, options.scaling);
  for (const TableRow& row : rows) {
    const bool in_curve = row.find("speedup") != nullptr || row.find("decrease_percent") != nullptr;
    if (!is_run(row.measurement) && !in_curve) analysis.printed.push_back(coordinates(row.measurement));
  }
  analysis.scaled = scaled_curves(analysis.configurations);
  analysis.fractions = fraction_tables(analysis.curves);
  analysis.comparisons = comparisons(analysis.configurations);
  analysis.equal_cost = at_equal_cost(analysis.configurations);
  std::vector<TableRow> of_both = rows;
  if (options.again) {
    const std::vector<TableRow> again = rows_made_again(*options.again, analysis);
    analysis.replication = replication(analysis.configurations, configurations_of_runs(again));
    of_both.insert(of_both.end(), again.begin(), again.end());
  }
  require_one_dataset(of_both);
  if (std::string notice = notice_of_epochs(of_both); !notice.empty())
    analysis.notices.push_back(std::move(notice));
  if (!options.requirements.empty()) {
    analysis.recommendations =
        recommend(analysis.curves, analysis.configurations, options.requirements, options.scaling.up_to);
  }
  if (options.requirements.accuracy) {
    analysis.times_to_accuracy =
        times_to_accuracy(analysis.configurations, rows, *options.requirements.accuracy);
    if (analysis.times_to_accuracy.empty()) {
      analysis.notices.emplace_back(
          "times to an accuracy are unknown: they are read from the folders of runs, but the folder of the "
          "table has no runs/ with validations");
    }
  }
  analysis.costs = costs(analysis.configurations, options.machines, options.reference);
  if (!options.machines.empty()) analysis.currency = options.machines.front().currency;
  analysis.pareto = pareto(analysis.configurations, analysis.costs);
  analysis.audit = audit(rows);
  return analysis;
}

// A price and a cost without a time: the time is their quotient.
std::int64_t imply_makespans(std::vector<TableRow>& rows) {
  std::int64_t count = 0;
  for (TableRow& row : rows) {
    Measurement& m = row.measurement;
    const Printed *price = row.find("price_per_hour"), *cost = row.find("cost_per_training");
    if (m.makespan_seconds || m.epoch_seconds || price == nullptr || cost == nullptr) continue;
    if (price->value <= 0) continue;
    m.makespan_seconds = 3600 * cost->value / price->value;
    ++count;
  }
  return count;
}

bool same_run(const TableRow& a, const TableRow& b) { return a.measurement == b.measurement; }

// A run that counts twice makes every interval too narrow. Runs are identified by their start time; tables
// without start times are the same if all their rows are equal.
void require_other_runs(const PublishedTable& table, const PublishedTable& earlier) {
  const std::string hint = "every run must count once: pass each table once";
  if (std::equal(table.rows.begin(), table.rows.end(), earlier.rows.begin(), earlier.rows.end(), same_run)) {
    throw Error(fmt::format("two tables are equal: they begin at {} and {}", earlier.rows.front().where,
                            table.rows.front().where),
                hint);
  }
  for (const TableRow& row : table.rows) {
    if (row.measurement.started.empty()) continue;
    const auto twin =
        std::ranges::find_if(earlier.rows, [&](const TableRow& other) { return same_run(other, row); });
    if (twin == earlier.rows.end()) continue;
    throw Error(fmt::format("{}: is the same run as {}", row.where, twin->where), hint);
  }
}

// Both tables are of the same work, and of other runs.
void require_repeats(const PublishedTable& table, const PublishedTable& earlier) {
  require_other_runs(table, earlier);
  require_same_recipes(earlier, table);
}

}  // namespace

Analysis analyze(std::span<const Measurement> measurements, const AnalysisOptions& options) {
  std::vector<TableRow> rows;
  for (const Measurement& measurement : measurements) rows.push_back({measurement, {}, {}});
  return analyze_rows(std::move(rows), options);
}

Analysis analyze(std::span<const PublishedTable> tables, const AnalysisOptions& options) {
  std::vector<TableRow> rows;
  std::vector<std::string> notices;
  for (auto table = tables.begin(); table != tables.end(); ++table) {
    for (auto earlier = tables.begin(); earlier != table; ++earlier) require_repeats(*table, *earlier);
    if (options.again) require_repeats(*options.again, *table);
  }
  for (std::size_t t = 0; t < tables.size(); ++t) {
    const PublishedTable& table = tables[t];
    for (const TableRow& row : table.rows) rows.emplace_back(row).table = t;
    notices.insert(notices.end(), table.notices.begin(), table.notices.end());
  }
  if (const std::int64_t count = imply_makespans(rows); count > 0) {
    notices.push_back(fmt::format("{} rows have no makespan: cost / price is used", count));
  }
  Analysis analysis = analyze_rows(std::move(rows), options);
  analysis.notices.insert(analysis.notices.begin(), notices.begin(), notices.end());
  return analysis;
}

}  // namespace convoke::study
