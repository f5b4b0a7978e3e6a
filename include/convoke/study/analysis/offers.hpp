#pragma once
#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "convoke/core/settings.hpp"
#include "convoke/study/analysis/cost.hpp"
#include "convoke/study/analysis/scaling.hpp"
#include "convoke/study/tables/measured_configuration.hpp"
#include "convoke/study/tables/text_table.hpp"

namespace convoke::study {

/// The demands on a training, and what it needs besides workers.
struct Demands {
  /// Longest time from the start of the transfer of the dataset to the trained model.
  std::optional<double> deadline_seconds = {};
  std::optional<double> accuracy = {};  ///< least accuracy on the test samples, [0, 1]
  std::optional<double> gigabytes =
      {};  ///< of the dataset, 10^9 bytes; empty: unknown, then its costs are left out
  std::optional<double> keep_seconds =
      {};                  ///< how long the dataset is stored; empty: until the model is trained
  std::int64_t up_to = 0;  ///< largest predicted number of workers; 0: no predictions
  std::set<std::string> separate =
      {};  ///< systems whose ranks train separate models in synchronous training, as local SGD does
};

/// A training on a kind of machine, with a number of workers.
struct Offer {
  Coordinates at;
  std::string machine, terms;  ///< as in Cost
  std::int64_t nodes = 1;
  double transfer_seconds = 0;
  double training_seconds = 0;     ///< expected, including restarts
  double latest_seconds = 0;       ///< of both together, with the upper end of the interval of the training
  bool predicted = false;          ///< the time is from Amdahl's law, not measured
  std::optional<double> accuracy;  ///< empty: unknown
  double accuracy_at_least = 0;    ///< the lower end of its interval
  bool accuracy_predicted = false;
  double training_cost = 0, transfer_cost = 0, storage_cost = 0;
  std::vector<std::string> marks;  ///< of the configuration, or of those to which the law is fitted
  std::vector<std::string>
      reasons;          ///< why it does not meet the demands: "takes 3 h 10 min, 1 h 10 min too long"
  double distance = 0;  ///< sum of the relative differences to the demands that it misses; 0: it meets all

  double cost() const { return training_cost + transfer_cost + storage_cost; }
  bool fits() const { return reasons.empty(); }
};

/// Returns the offers of all machines. Those that meet the demands come first, by cost, then by time; the
/// others follow by their distance. Costs and restarts are those of costs(). A time meets a demand
/// if the upper end of its 95 % interval does, an accuracy if the lower end does, both by the mean if there
/// is no interval.
///
/// Numbers of workers that were not measured, or with more workers than cores, have times predicted by
/// Amdahl's law. Their accuracy is that of a marked measurement; for synchronous training with the same batch
/// in all configurations it is the lowest of the curve, because all numbers of ranks compute the same model
/// up to rounding, unless it differs significantly between configurations (Welch) or a variant sets the
/// strategy; otherwise it is unknown. A training that never ends for its preemptions is not offered.
std::vector<Offer> offers(std::span<const Curve> curves,
                          std::span<const MeasuredConfiguration> configurations,
                          std::span<const PricedMachine> machines, const Demands& demands);

/// Returns the first offer of each system, mode, variant, fraction, machine and terms: its best number of
/// workers.
std::vector<Offer> best_of_each(std::span<const Offer> offers);

/// Returns the first offer in one sentence, with its cost, time and accuracy.
std::string sentence(const Offer& offer, const std::string& currency);

/// Returns the offers as a table; the last column says why an offer is not the first.
TextTable table_of(std::span<const Offer> offers, const std::string& currency);

/// Returns the offers for JSON.
Value to_value(std::span<const Offer> offers);

}  // namespace convoke::study
