#pragma once
#include <array>
#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "convoke/core/settings.hpp"
#include "convoke/study/analysis/statistics.hpp"
#include "convoke/study/tables/measurement.hpp"

namespace convoke::study {

/// A measured quantity of a run.
struct Quantity {
  enum class Kind {
    kWhole,   ///< of the whole run
    kTime,    ///< seconds of the same work, on few or many workers
    kScore,   ///< of the model; equal in all runs of one seed
    kPhase,   ///< seconds of a part of the makespan
    kDetail,  ///< seconds of a part of a phase, or outside the makespan
  };
  std::string_view name;  ///< name of the column in measurements.csv
  std::string_view title, unit;
  std::optional<double> Measurement::*member;
  Kind kind = Kind::kWhole;
};

/// In the order of their columns in measurements.csv.
inline constexpr std::array kQuantities{
    Quantity{"makespan_seconds", "makespan", "s", &Measurement::makespan_seconds, Quantity::Kind::kTime},
    Quantity{"epoch_seconds", "time per epoch", "s", &Measurement::epoch_seconds, Quantity::Kind::kTime},
    Quantity{"images_per_second", "images/s", "1/s", &Measurement::images_per_second},
    Quantity{"accuracy", "test accuracy", "", &Measurement::accuracy, Quantity::Kind::kScore},
    Quantity{"training_accuracy", "training accuracy", "", &Measurement::training_accuracy,
             Quantity::Kind::kScore},
    Quantity{"validation_accuracy", "validation accuracy", "", &Measurement::validation_accuracy,
             Quantity::Kind::kScore},
    Quantity{"f1", "F1", "", &Measurement::f1, Quantity::Kind::kScore},
    Quantity{"quadratic_kappa", "quadratic kappa", "", &Measurement::quadratic_kappa, Quantity::Kind::kScore},
    Quantity{"roc_auc", "ROC AUC", "", &Measurement::roc_auc, Quantity::Kind::kScore},
    Quantity{"core_seconds", "core-seconds", "s", &Measurement::core_seconds},
    Quantity{"joules", "energy", "J", &Measurement::joules},
    Quantity{"compute_seconds", "compute", "s", &Measurement::compute_seconds, Quantity::Kind::kPhase},
    Quantity{"communication_seconds", "exposed communication", "s", &Measurement::communication_seconds,
             Quantity::Kind::kPhase},
    Quantity{"load_seconds", "load", "s", &Measurement::load_seconds, Quantity::Kind::kPhase},
    Quantity{"evaluation_seconds", "evaluation", "s", &Measurement::evaluation_seconds,
             Quantity::Kind::kPhase},
    Quantity{"test_seconds", "test, part of the evaluation", "s", &Measurement::test_seconds,
             Quantity::Kind::kDetail},
    Quantity{"gather_seconds", "gather", "s", &Measurement::gather_seconds, Quantity::Kind::kPhase},
    Quantity{"launch_seconds", "launch, in addition to the makespan", "s", &Measurement::launch_seconds,
             Quantity::Kind::kDetail},
};

/// The machine of runs that do not name it, in an analysis of several machines.
inline constexpr const char* kUnknownMachine = "unknown machine";

/// The coordinates of a configuration: the properties that its runs share.
struct Coordinates {
  std::string system, mode;
  std::int64_t ranks = 1, threads = 1;  ///< ranks 0: unknown
  double fraction = 1;
  std::string batch, variant;
  std::string machine = {};  ///< as in Measurement; "" for planned configurations, which have no machine yet
  /// The members of an ensemble were trained one after another, each alone, as if all ranks had their own
  /// cores: never a repeat of a run in which they trained at the same time.
  bool emulated = false;

  std::int64_t workers() const { return ranks * threads; }  ///< 0: unknown
  auto operator<=>(const Coordinates&) const = default;
};

Coordinates coordinates(const Measurement& measurement);

/// Returns the coordinates without the machine, as a study plans them.
Coordinates on_any_machine(Coordinates at);

/// Returns the coordinates that the configurations of a curve share: ranks 0, and one thread.
Coordinates on_any_ranks(Coordinates at);

/// Returns true for the same system, mode, batch policy, variant and machine.
bool same_family(const Coordinates& a, const Coordinates& b);

/// Returns the variant without keys of ensembles, which say how work is done, not which work: a group's
/// variant contains its members.
std::string variant_of_work(const Coordinates& at);

/// Returns true for the same work on the same machine, in any mode.
bool same_work(const Coordinates& a, const Coordinates& b);

/// Returns true for a mode named "sequential", "serial" or "single".
bool is_sequential(std::string_view mode);

/// Returns "mnist-sync, sync, 4 ranks x 2 threads, 1/4 of the samples", and the machine at the end if it is
/// set.
std::string to_string(const Coordinates& at);

/// Returns the coordinates for JSON, without ranks and a machine that are unknown.
Settings to_settings(const Coordinates& at);

/// Returns the same for a training on a machine with a price: "machine" and its terms are those of the price,
/// and "measured_on" is the machine of the runs, if it is set.
Settings to_settings(const Coordinates& at, const std::string& machine, const std::string& terms);

/// Returns a configuration's name for folders, "mnist-sync-sync-2x1-p0.5", with "-emulated" at the end:
/// characters other than letters, digits, dot, plus and minus become "_", and a checksum replaces the end of
/// a name of more than 220.
std::string run_name(const Coordinates& at);

/// Returns a share as "1/8", "1", "0.3".
std::string fraction_text(double fraction);

/// The repeats of one configuration.
struct MeasuredConfiguration {
  Coordinates at;
  std::vector<Measurement> runs;   ///< counted runs
  std::int64_t failed = 0;         ///< uncounted runs: failed,
  std::int64_t contended = 0;      ///< or contended while others were not
  std::vector<std::string> marks;  ///< of the counted runs, each once
  /// By name of the quantity, or of the column of a further number ("summary.test.ece"), if measured.
  std::map<std::string, Statistics, std::less<>> statistics;

  /// Returns null if no run has measured it.
  const Statistics* find(std::string_view quantity) const;

  /// The dataset hash of its runs; "" if unknown.
  std::string_view dataset_hash() const;
};

/// Returns the values of the configuration's runs; if two runs have the same repeat (and so the same seed),
/// their scores count once.
std::vector<double> values_of(const MeasuredConfiguration& configuration, const Quantity& quantity);

/// Returns a mark in capital letters, as it is printed.
std::string loud(std::string mark);

/// Returns `text` and its marks, which say why it is not reliable: "5.5 [OVERSUBSCRIBED, CONTENDED]".
std::string marked(const std::string& text, std::span<const std::string> marks);

/// Returns the configuration of these coordinates; null if there is none.
const MeasuredConfiguration* configuration_at(std::span<const MeasuredConfiguration> configurations,
                                              const Coordinates& at);

/// Returns the configuration with the most runs of the plan `at` on any machine; null if there is none. Runs
/// on other machines are not repeats of these.
const MeasuredConfiguration* largest_configuration_at(std::span<const MeasuredConfiguration> configurations,
                                                      const Coordinates& at);

/// Adds the marks that are missing.
void add_marks(std::vector<std::string>& all, std::span<const std::string> marks);

/// Returns true if there were more workers than cores: such times are not used in laws and advice.
bool is_oversubscribed(std::span<const std::string> marks);

/// Groups the runs of a study by their coordinates, in the order of first appearance. Failed runs are only
/// counted. Contended runs are only counted if the configuration has others, or the same repeat was made
/// again; otherwise they are used and the configuration gets the mark. Missing core-seconds become makespan x
/// ranks x threads.
std::vector<MeasuredConfiguration> configurations_of(std::span<const Measurement> measurements);

/// Groups the runs of several studies. Each study has its own repeats: the same one of another study does not
/// replace it.
std::vector<MeasuredConfiguration> configurations_of(std::span<const std::vector<Measurement>> studies);

}  // namespace convoke::study
