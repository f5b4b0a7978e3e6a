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
#include "convoke/study/analysis/portions.hpp"
#include "convoke/study/analysis/replication.hpp"
#include "convoke/study/analysis/scaling.hpp"
#include "convoke/study/analysis/time_to_accuracy.hpp"
#include "convoke/study/tables/cells.hpp"
#include "convoke/study/tables/published_table.hpp"

namespace convoke::study {

struct AnalysisOptions {
  ScalingOptions scaling = {};
  Wishes wishes = {};
  std::vector<PricedMachine> machines = {};
  std::string reference = {};                ///< machine that costs are compared with; "": the first
  double relative_error = 0.05;              ///< of a mean that is precise enough; the thesis' target
  std::filesystem::path study = {};          ///< folder with the runs, for times to an accuracy; "": none
  std::optional<PublishedTable> again = {};  ///< of the same study, made once more
};

/// Everything that is found out from a table of measurements: what is printed, drawn and stored.
struct Analysis {
  std::vector<std::string> notices;  ///< about the tables as a whole
  std::string machine;               ///< of all runs; "" if not known, or if cells have machines of their own
  double relative_error = 0.05;      ///< the target
  std::vector<MeasuredCell> cells;
  std::vector<Curve> curves;
  std::vector<ScaledCurve> scaled;
  std::vector<PortionTable> portions;  ///< with places in `curves`
  std::vector<Comparison> comparisons;
  std::vector<EqualCost> equal_cost;
  std::optional<Replication> replication;         ///< none without a second study
  std::vector<Recommendation> recommendations;    ///< empty if nothing was wished
  std::vector<TimeToAccuracy> times_to_accuracy;  ///< empty if no accuracy was wished
  std::vector<Cost> costs;                        ///< empty without machines
  Audit audit;                                    ///< of published columns
};

/// A study's own measurements.
Analysis analyse(std::span<const Measurement> measurements, const AnalysisOptions& options);

/// Anybody's tables; rows of the same coordinates belong to the same cell. Where only a price and a cost are
/// given, the makespan is their quotient (a notice says so). Throws Error naming both lines where a run is in
/// two of them, or in `again`, too.
Analysis analyse(std::span<const PublishedTable> tables, const AnalysisOptions& options);

/// What analysis.json holds (docs/formats.md).
Settings to_settings(const Analysis& analysis);

}  // namespace convoke::study
