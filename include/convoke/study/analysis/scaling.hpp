#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "convoke/study/analysis/laws.hpp"
#include "convoke/study/tables/measured_configuration.hpp"
#include "convoke/study/tables/published_table.hpp"

namespace convoke::study {

/// A configuration relative to its base, with all published measures. T1 is the time of the base, and p =
/// workers / workers of the base.
struct ScalingPoint {
  Coordinates at;
  std::optional<Statistics> seconds;  ///< empty if only derived figures were published
  Ratio speedup;                      ///< T1 / Tp, Fieller's interval
  std::optional<Ratio>
      efficiency;  ///< speed-up / p; the DDP paper's scaling percentage / 100. Empty without p
  std::optional<double> machine_efficiency;  ///< the TPU paper's: speed-up / devices of the machine
  Ratio decrease_percent;                    ///< the MPI-ensemble paper's: 100 (1 - Tp / T1)
  std::optional<Ratio> karp_flatt;  ///< serial fraction (1 / S - 1 / p) / (1 - 1 / p), CACM 33 (1990); p > 1
  std::vector<std::string> marks;   ///< of the configuration
  std::vector<std::string>
      marks_of_ratios;  ///< of the configuration and its base, for all measures except the time
};

/// All numbers of ranks and threads of one system, mode, fraction, batch policy and variant: the same work
/// with more and more workers.
struct Curve {
  Coordinates shared;         ///< by all its configurations; ranks have no meaning
  std::string quantity = {};  ///< kind of time: "makespan_seconds", "epoch_seconds", or "published"
  Coordinates base =
      {};  ///< the configuration with the fewest workers, in this mode or in another one with fewer
  std::vector<ScalingPoint> points = {};  ///< by workers
  /// Fitted to the times (or 1 / published speed-ups) of the points that are not oversubscribed. Empty if the
  /// times decrease by more than the workers (f < 0), which the law does not describe.
  std::optional<AmdahlFit> amdahl = {};
  bool slows_down = false;                   ///< so much that no time of one worker follows
  std::optional<Estimate> superlinear = {};  ///< this f below 0
  std::vector<std::string> law_marks = {};   ///< of the configurations to which the law is fitted
  std::vector<Prediction> predictions = {};  ///< by Amdahl's law for 1, 2, 4, ... workers, up to `up_to`
};

struct ScalingOptions {
  std::int64_t machine_devices = 0;  ///< for the TPU paper's efficiency; 0: not computed
  std::int64_t up_to = 0;            ///< largest predicted number of workers; 0: no prediction
};

/// Returns the curves of two configurations or more that have times or published speed-ups.
std::vector<Curve> scaling_curves(std::span<const MeasuredConfiguration> configurations,
                                  std::span<const TableRow> rows, const ScalingOptions& options);

}  // namespace convoke::study
