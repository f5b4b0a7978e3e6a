#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "convoke/study/analysis/laws.hpp"
#include "convoke/study/tables/measured_configuration.hpp"
#include "convoke/study/tables/measurement.hpp"

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

/// Returns the base of a curve among those of `all` that `is_measured`: the configuration of the same work
/// with the fewest workers; of several, the one with the curve's mode and batch policy, and the one that is
/// not emulated. If numbers of workers are unknown, a sequential mode is the base. Null if there is none.
/// `place` returns the coordinates of an element of `all`.
template <class T, class Place, class Measured>
const T* base_among(std::span<const T> all, const Coordinates& curve, Place place, Measured is_measured) {
  const auto order = [&](const Coordinates& at) {
    return std::tuple(at.workers(), at.mode != curve.mode, at.batch != curve.batch,
                      at.variant != curve.variant, at.emulated);
  };
  const T* base = nullptr;
  for (const T& candidate : all) {
    const Coordinates& at = place(candidate);
    if (!same_work(at, curve) || !is_measured(candidate)) continue;
    if (at.workers() == 0 && !is_sequential(at.mode)) continue;
    if (base == nullptr || order(at) < order(place(*base))) base = &candidate;
  }
  return base;
}

/// Returns the curves of two configurations or more that have times or published speed-ups.
std::vector<Curve> scaling_curves(std::span<const MeasuredConfiguration> configurations,
                                  std::span<const TableRow> rows, const ScalingOptions& options);

/// Work that grows with the workers: configurations whose fraction grows as their workers do.
struct ScaledPoint {
  Coordinates at;
  double workers = 1;                   ///< relative to the workers of the base
  Ratio speedup;                        ///< of scaled work: p T(base) / T
  std::vector<std::string> marks = {};  ///< of the configuration and its base
};

struct ScaledCurve {
  Coordinates shared;  ///< by all its configurations; ranks and fraction have no meaning
  std::string quantity;
  Coordinates base;
  std::vector<ScaledPoint> points;
  std::optional<Estimate> gustafson;
};

/// fractions x workers, as in the TPU paper's tables 6 (times), 7 (acceleration) and 8 (efficiency).
struct FractionTable {
  Coordinates shared;  ///< by all its configurations; ranks and fraction have no meaning
  struct Size {
    std::int64_t ranks = 1, threads = 1;
    std::int64_t workers() const { return ranks * threads; }
    bool operator==(const Size&) const = default;
  };
  std::vector<double> fractions = {};  ///< ascending
  std::vector<Size> sizes = {};        ///< by workers, then ranks
  /// Index into `curves` and into its points, by fraction and size; empty if there is no configuration.
  struct Place {
    std::size_t curve, point;
  };
  std::vector<std::vector<std::optional<Place>>> places = {};
};

/// Returns the curves of configurations whose fraction is proportional to their workers, with two points or
/// more. Gustafson's law is fitted to the configurations that were not oversubscribed.
std::vector<ScaledCurve> scaled_curves(std::span<const MeasuredConfiguration> configurations);

/// Returns the tables of two fractions or more.
std::vector<FractionTable> fraction_tables(std::span<const Curve> curves);

}  // namespace convoke::study
