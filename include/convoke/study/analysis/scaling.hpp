#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "convoke/study/analysis/laws.hpp"
#include "convoke/study/tables/cells.hpp"
#include "convoke/study/tables/published_table.hpp"

namespace convoke::study {

/// A cell beside the one it is compared with, in all published ways of counting. With T1 the time of the base
/// and p = workers / workers of the base.
struct ScalingPoint {
  Coordinates at;
  std::optional<Statistics> seconds;  ///< none where only derived figures were published
  Ratio speedup;                      ///< T1 / Tp, Fieller's interval
  std::optional<Ratio>
      efficiency;  ///< speed-up / p; the DDP paper's scaling percentage / 100. None without p
  std::optional<double> machine_efficiency;  ///< the TPU paper's: speed-up / devices of the machine
  Ratio decrease_percent;                    ///< the MPI-ensemble paper's: 100 (1 - Tp / T1)
  std::optional<Ratio> karp_flatt;  ///< serial fraction (1 / S - 1 / p) / (1 - 1 / p), CACM 33 (1990); p > 1
  std::vector<std::string> marks;   ///< of the cell
  std::vector<std::string> marks_of_ratios;  ///< of the cell and its base: of all but the time
};

/// All numbers of ranks and threads of one system, mode, portion, batch policy and variant: the same work by
/// more and more workers.
struct Curve {
  std::string system, mode, batch, variant, machine;
  double portion = 1;
  std::string quantity;  ///< what the time is: "makespan_seconds", "epoch_seconds", or "published"
  Coordinates base;      ///< of the fewest workers in this mode, or if another has fewer, in that one
  std::vector<ScalingPoint> points;  ///< by workers
  /// Of the times (or 1 / published speed-ups) of the points that are not oversubscribed. None where they
  /// fall by more than the workers (f < 0), of which no law says anything.
  std::optional<AmdahlFit> amdahl;
  std::optional<Estimate> superlinear;  ///< that f
  std::vector<std::string> law_marks;   ///< of the cells that the laws are fitted to
  std::optional<Estimate> gustafson;    ///< serial fraction, of the same times; none where Amdahl's is none
  std::vector<Prediction> predictions;  ///< by Amdahl's law; workers 1, 2, 4, ... up to what was asked for
};

struct ScalingOptions {
  std::int64_t machine_devices = 0;  ///< for the TPU paper's efficiency; 0: not wanted
  std::int64_t up_to = 0;            ///< workers to predict for; 0: no prediction
};

/// Curves of two cells or more, as far as there are times or published speed-ups.
std::vector<Curve> scaling_curves(std::span<const MeasuredCell> cells, std::span<const TableRow> rows,
                                  const ScalingOptions& options);

}  // namespace convoke::study
