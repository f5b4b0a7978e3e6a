#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "convoke/study/analysis/statistics.hpp"
#include "convoke/study/tables/measured_configuration.hpp"

namespace convoke::study {

/// Two configurations that differ in one coordinate, and whether a quantity differs significantly.
struct Comparison {
  std::size_t a = 0, b = 0;  ///< indices of the configurations
  std::string varies;        ///< "mode", "ranks", "threads", "batch", "variant", "system", "system and mode",
                             ///< "machine" or "emulated"
  std::string quantity;      ///< "makespan_seconds", "epoch_seconds" or "accuracy"
  WelchTest test;            ///< of a - b
  double p_holm = 1;         ///< p adjusted for all comparisons of this quantity (Holm)
};

/// Computes Welch's t-test of every two configurations with two runs or more that are equal in all
/// coordinates except one; for ranks or threads, only of neighbors. More than 32 variants of one
/// configuration are compared only with the first of them. Different fractions and datasets are different
/// work and are not compared, nor are different accuracies if all runs of one configuration have the same.
std::vector<Comparison> comparisons(std::span<const MeasuredConfiguration> configurations);

/// An ensemble and synchronous training of the same samples at equal core-seconds.
struct EqualCost {
  std::size_t ensemble = 0, sync = 0;  ///< indices of the configurations
  double core_seconds_ratio = 1;       ///< of the synchronous configuration / of the ensemble
  double difference = 0;               ///< accuracy of the ensemble - that of the synchronous configuration
  std::optional<WelchTest> test = {};  ///< of the difference; none for single runs, and for equal ones
  /// "ensemble", "sync", "" (no significant difference), "unknown" (no test), "dearer": the synchronous
  /// configuration, but for more core-seconds, which is not a verdict at equal cost.
  std::string better = {};
};

/// Pairs every configuration of mode "ensemble" or "groups" with a synchronous configuration of its system
/// (if there is none, of all systems: the recipe's twin has another name), fraction, dataset, machine and
/// variant without keys of ensembles. Chooses the most accurate configuration (by the lower ends of
/// intervals) among the configurations that take at most 5 % more core-seconds. If all configurations take
/// more, chooses the one that takes fewest.
std::vector<EqualCost> at_equal_cost(std::span<const MeasuredConfiguration> configurations);

/// Returns "net, ensemble, 2 ranks (98.86 % in 5.35 s, 10.7 core-seconds) against ...: 0.50 points more (95 %
/// interval 0.30 to 0.70)."
std::string sentence(const EqualCost& verdict, std::span<const MeasuredConfiguration> configurations);

}  // namespace convoke::study
