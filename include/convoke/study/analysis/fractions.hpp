#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "convoke/study/analysis/laws.hpp"
#include "convoke/study/analysis/scaling.hpp"
#include "convoke/study/tables/measured_configuration.hpp"

// Joint analysis of fractions of the data and numbers of workers.

namespace convoke::study {

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
