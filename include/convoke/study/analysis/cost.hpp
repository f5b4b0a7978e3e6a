#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "convoke/study/analysis/statistics.hpp"
#include "convoke/study/tables/measured_configuration.hpp"

namespace convoke::study {

/// Purchased hardware: the cost of an hour of a node over its life.
struct Ownership {
  double purchase = 0;  ///< of one node
  double years = 0;     ///< in use, 8760 hours each
  double watts = 0;     ///< of one node
  double price_per_kwh = 0;
  double use = 1;  ///< share of the hours in which it works, (0, 1]; idle hours cost too

  double per_hour() const;
};

/// Preemption of nodes, and restarts from the last checkpoint.
struct Preemption {
  double hours_between = 0;  ///< mean time between preemptions of the whole job; 0: never
  /// Seconds from a preemption to continued training. Empty: the start of the configuration's runs, launch
  /// and loading.
  std::optional<double> restart_seconds = {};
  double checkpoint_every = 0;    ///< seconds of training between checkpoints; 0: none, training starts again
  double checkpoint_seconds = 0;  ///< pause for one checkpoint

  /// Expected seconds of work that takes `seconds` undisturbed, with random failures: the complete model of
  /// Daly (Future Generation Computer Systems 22, 2006): M e^(R/M) (e^((t + d)/M) - 1) work / t, with M the
  /// mean time between failures, R the time of a restart (0 if unknown), t the time between checkpoints, d
  /// the time of one checkpoint.
  double expected_seconds(double seconds) const;
};

/// Bringing the dataset to a machine, and keeping it there.
struct DataPrices {
  double megabytes_per_second = 0;        ///< to the machine, 10^6 bytes; 0: the data is there already
  double transfer_price_per_gb = 0;       ///< of 10^9 bytes to the machine
  double storage_price_per_gb_month = 0;  ///< a month has 730 hours
};

/// A kind of node and the cost of an hour of it; all machines have the same currency.
struct PricedMachine {
  std::string name;
  std::int64_t cores = 0;  ///< cores of a node, one per worker; 0: one node for any number of workers
  double speed = 1;        ///< relative to the machine of the study: 2 takes half the time
  std::optional<double> price_per_hour;              ///< of a node, on demand
  std::optional<double> preemptible_price_per_hour;  ///< of a node
  std::optional<Ownership> ownership;
  Preemption preemption;
  DataPrices data = {};
  std::string currency = {};  ///< of all prices of the file; "" if it names none
};

/// Reads machines from the tables [[machine]] of a TOML file; docs/advise.md has the keys. Throws Error
/// naming file and line for unknown keys, values out of range, a machine without a price, and a repeated
/// name.
std::vector<PricedMachine> read_machines(const std::filesystem::path& toml);

/// The cost of one training of a configuration on a machine.
struct Cost {
  Coordinates at;
  std::string machine;
  std::string terms;  ///< "on demand", "preemptible" or "own"
  std::int64_t nodes = 1;
  double price_per_hour = 0;                   ///< of a node
  double seconds = 0;                          ///< expected, including restarts
  double restart_share = 0;                    ///< share of `seconds` lost to preemption
  std::optional<double> restart_seconds = {};  ///< of one restart; empty without restarts, or if unknown
  bool restart_measured = false;          ///< true: from the configuration's runs; false: from the machine
  double cost = 0;                        ///< nodes x price x hours
  std::optional<Interval> interval = {};  ///< of the cost, from that of the makespan
  /// The cost-efficiency of the thesis in % (chapter 6.3), the saving against the reference: 100 (1 - cost /
  /// cost of the reference). Empty for the reference, and without a reference.
  std::optional<double> efficiency_percent = {};
};

/// Computes the costs of every configuration with a makespan, on the machine that its mode names ("TPUv3-8",
/// or "TPUv3-8 preemptible" for these terms only), otherwise on all machines. The reference is the machine
/// called `reference` ("": the first machine) with the same system and, unless the modes are the machines,
/// the same configuration; with its own terms first, then on demand.
std::vector<Cost> costs(std::span<const MeasuredConfiguration> configurations,
                        std::span<const PricedMachine> machines, const std::string& reference);

/// A measured training by its time, its cost and its accuracy (means).
struct ParetoPoint {
  Coordinates at;
  std::string machine, terms;  ///< as in Cost; "" if the cost is in core-seconds
  double seconds = 0;          ///< expected, including restarts
  double cost = 0;
  double accuracy = 0;             ///< of the test samples, [0, 1]
  std::vector<std::string> marks;  ///< of the configuration
  /// Pareto-optimal: no other point is at least as good in all three and better in one.
  bool optimal = false;
};

/// Returns a point for each cost of a configuration with an accuracy; without costs, for each configuration,
/// by its core-seconds. Configurations with more workers than cores are left out.
std::vector<ParetoPoint> pareto(std::span<const MeasuredConfiguration> configurations,
                                std::span<const Cost> costs);

}  // namespace convoke::study
