#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "convoke/study/analysis/statistics.hpp"
#include "convoke/study/tables/cells.hpp"

namespace convoke::study {

/// Two cells that differ in one thing, and whether a quantity tells them apart.
struct Comparison {
  std::size_t a = 0, b = 0;  ///< places in the cells
  std::string varies;    ///< "mode", "ranks", "threads", "batch", "variant", "system", "system and mode" or
                         ///< "machine"
  std::string quantity;  ///< "makespan_seconds", "epoch_seconds" or "accuracy"
  WelchTest test;        ///< of a - b
  double p_holm = 1;     ///< p among all comparisons of this quantity together (Holm)
};

/// Welch's t-test of every two cells of two runs or more that are alike in all coordinates but one; of those
/// that differ in ranks or threads, neighbours only. Other portions and datasets are other work and are not
/// compared.
std::vector<Comparison> comparisons(std::span<const MeasuredCell> cells);

/// An ensemble beside synchronous training of the same samples at equal core-seconds.
struct EqualCost {
  std::size_t ensemble = 0, sync = 0;  ///< places in the cells
  double core_seconds_ratio = 1;       ///< those of the synchronous cell / of the ensemble
  double difference = 0;               ///< accuracy of the ensemble - that of the synchronous cell
  std::optional<WelchTest> test;       ///< of the difference; none of single runs
  /// "ensemble", "sync", "" (cannot be told apart), "unknown" (single runs), "dearer": the synchronous one,
  /// but for more core-seconds, which is no verdict at equal cost.
  std::string better;
};

/// Every cell of mode "ensemble" or "groups" with the most accurate synchronous cell (by the lower ends of
/// intervals) of its system (where that has none, of all systems: the recipe's twin has another name),
/// portion, dataset, machine and variant, keys of ensembles aside, that takes at most 5 % more core-seconds;
/// if all take more, with the one that takes fewest.
std::vector<EqualCost> at_equal_cost(std::span<const MeasuredCell> cells);

/// "net, ensemble, 2 ranks (98.86 % in 5.35 s, 10.7 core-seconds) against ...: 0.50 points more (95 %
/// interval 0.30 to 0.70)."
std::string sentence(const EqualCost& verdict, std::span<const MeasuredCell> cells);

}  // namespace convoke::study
