#pragma once
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "convoke/core/settings.hpp"
#include "convoke/study/analysis/advice.hpp"
#include "convoke/study/analysis/audit.hpp"
#include "convoke/study/analysis/comparison.hpp"
#include "convoke/study/analysis/cost.hpp"
#include "convoke/study/analysis/replication.hpp"
#include "convoke/study/analysis/scaling.hpp"
#include "convoke/study/analysis/time_to_accuracy.hpp"
#include "convoke/study/tables/measured_configuration.hpp"
#include "convoke/study/tables/measurement.hpp"
#include "convoke/study/tables/text_table.hpp"

namespace convoke::study {

struct AnalysisOptions {
  ScalingOptions scaling = {};
  Requirements requirements = {};
  std::vector<PricedMachine> machines = {};
  std::string reference = {};  ///< machine with which costs are compared; "": the first
  double relative_error =
      0.05;  ///< largest relative error of a mean that is precise enough; target of the thesis
  std::optional<PublishedTable> again = {};  ///< of a repetition of the same study
};

/// All results from a table of measurements: to print, draw and store.
struct Analysis {
  std::vector<std::string> notices;  ///< about the tables as a whole
  std::string machine;           ///< of all runs; "" if unknown, or if configurations have different machines
  double relative_error = 0.05;  ///< the target
  std::vector<MeasuredConfiguration> configurations;
  std::vector<Coordinates>
      printed;  ///< of rows with derived figures that make no curve, such as efficiencies
  std::vector<Curve> curves;
  std::vector<ScaledCurve> scaled;
  std::vector<FractionTable> fractions;  ///< refer to `curves`
  std::vector<Comparison> comparisons;
  std::vector<EqualCost> equal_cost;
  std::optional<Replication> replication;         ///< none without a second study
  std::vector<Recommendation> recommendations;    ///< empty without requirements
  std::vector<TimeToAccuracy> times_to_accuracy;  ///< empty without a required accuracy
  std::vector<Cost> costs;                        ///< empty without machines
  std::string currency;                           ///< of the costs; "" if unknown
  std::vector<ParetoPoint> pareto;
  Audit audit;  ///< of published columns
};

/// Analyses a study's measurements.
Analysis analyze(std::span<const Measurement> measurements, const AnalysisOptions& options);

/// Analyses any tables; rows with the same coordinates belong to the same configuration. If only a price and
/// a cost are given, the makespan is their quotient (with a notice). Throws Error naming both lines if a run
/// is in two of the tables, or also in `again`, or if two runs of a configuration are on different datasets;
/// naming the keys, if two tables are in folders of studies whose recipes of one name differ.
Analysis analyze(std::span<const PublishedTable> tables, const AnalysisOptions& options);

/// Returns the content of analysis.json (docs/formats.md).
Settings to_settings(const Analysis& analysis);

/// Returns the nonempty tables of an analysis: configurations, phases, scaling, fractions, laws, predictions,
/// comparisons, verdicts, costs, recommendations, published columns. Column names contain the units, and
/// every figure is followed by its marks.
std::vector<TextTable> tables(const Analysis& analysis);

/// Returns remarks in sentences: notices, configurations without interval or scatter, verdicts at equal cost.
std::vector<std::string> remarks(const Analysis& analysis);

}  // namespace convoke::study
