#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "convoke/study/analysis/statistics.hpp"
#include "convoke/study/tables/cells.hpp"

namespace convoke::study {

/// Hardware that was bought: what an hour of a node costs over its life.
struct Ownership {
  double purchase = 0;  ///< of one node
  double years = 0;     ///< in use, 8760 hours each
  double watts = 0;     ///< of one node
  double price_per_kwh = 0;
  double use = 1;  ///< share of the hours in which it works, (0, 1]: the others are paid for too

  double per_hour() const;
};

/// Nodes that are taken back, and work that is taken up again from the last checkpoint.
struct Preemption {
  double hours_between = 0;  ///< mean time between preemptions of the whole job; 0: never
  /// From being taken back to training on. None: what the cell's runs took to begin, launch and loading.
  std::optional<double> restart_seconds = {};
  double checkpoint_every = 0;    ///< seconds of training between checkpoints; 0: none, it begins anew
  double checkpoint_seconds = 0;  ///< standing still for one

  /// Expected seconds of work that takes `seconds` undisturbed: the complete model of Daly (Future Generation
  /// Computer Systems 22, 2006), failures at random: M e^(R/M) (e^((t + d)/M) - 1) work / t, with M the mean
  /// time between them, R a restart (0 if unknown), t the time between checkpoints, d one checkpoint.
  double expected_seconds(double seconds) const;
};

/// A kind of node and what an hour of it costs, in one currency for all.
struct PricedMachine {
  std::string name;
  std::int64_t cores = 0;  ///< cores of a node, a worker each; 0: one node, whatever the workers
  double speed = 1;        ///< relative to where the study ran: 2 takes half the time
  std::optional<double> price_per_hour;              ///< of a node, on demand
  std::optional<double> preemptible_price_per_hour;  ///< of a node
  std::optional<Ownership> ownership;
  Preemption preemption;
};

/// Machines of a TOML file of tables [[machine]]; docs/formats.md has the keys. Throws Error naming file and
/// line: unknown keys, values out of range, a machine without any price, a name that is there twice.
std::vector<PricedMachine> read_machines(const std::filesystem::path& toml);

/// One training of a cell on a machine.
struct Cost {
  Coordinates at;
  std::string machine;
  std::string terms;  ///< "on demand", "preemptible" or "own"
  std::int64_t nodes = 1;
  double price_per_hour = 0;                   ///< of a node
  double seconds = 0;                          ///< expected, restarts included
  double restart_share = 0;                    ///< of these, the part lost to preemption
  std::optional<double> restart_seconds = {};  ///< of one; none where there are none, or if nobody knows
  bool restart_measured = false;               ///< by the cell's runs; else the machine's
  double cost = 0;                             ///< nodes x price x hours
  std::optional<Interval> interval;            ///< of the cost: that of the makespan
  /// The thesis' cost-efficiency in % (chapter 6.3), what is saved against the reference: 100 (1 - cost /
  /// cost of the reference). None for the reference and without one.
  std::optional<double> efficiency_percent;
};

/// Costs of every cell with a makespan, on the machine that its mode names ("TPUv3-8", or "TPUv3-8
/// preemptible" for these terms alone), or if it names none on all. The reference is the machine called
/// `reference`, of the same system and, unless the modes are the machines, the same cell; on terms of its own
/// first, then on demand. "": the first machine.
std::vector<Cost> costs(std::span<const MeasuredCell> cells, std::span<const PricedMachine> machines,
                        const std::string& reference);

}  // namespace convoke::study
