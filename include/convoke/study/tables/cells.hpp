#pragma once
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "convoke/study/analysis/statistics.hpp"
#include "convoke/study/tables/measurement.hpp"

namespace convoke::study {

/// What is measured of a run.
struct Quantity {
  std::string_view name;  ///< as the column of measurements.csv
  std::string_view title, unit;
  std::optional<double> Measurement::*member;
};

inline constexpr std::array kQuantities{
    Quantity{"makespan_seconds", "makespan", "s", &Measurement::makespan_seconds},
    Quantity{"epoch_seconds", "time per epoch", "s", &Measurement::epoch_seconds},
    Quantity{"images_per_second", "images/s", "1/s", &Measurement::images_per_second},
    Quantity{"accuracy", "accuracy", "", &Measurement::accuracy},
    Quantity{"core_seconds", "core-seconds", "s", &Measurement::core_seconds},
    Quantity{"joules", "energy", "J", &Measurement::joules},
    Quantity{"compute_seconds", "compute", "s", &Measurement::compute_seconds},
    Quantity{"communication_seconds", "exposed communication", "s", &Measurement::communication_seconds},
    Quantity{"load_seconds", "load", "s", &Measurement::load_seconds},
    Quantity{"evaluation_seconds", "evaluation", "s", &Measurement::evaluation_seconds},
    Quantity{"gather_seconds", "gather", "s", &Measurement::gather_seconds},
    Quantity{"launch_seconds", "launch, beside the makespan", "s", &Measurement::launch_seconds},
};

/// Where a cell is: all that its runs have in common.
struct Coordinates {
  std::string system, mode;
  std::int64_t ranks = 1, threads = 1;  ///< ranks 0: not said
  double portion = 1;
  std::string batch, variant;
  std::string machine = {};  ///< as Measurement has it; what is planned is not bound to one: ""

  std::int64_t workers() const { return ranks * threads; }  ///< 0: not said
  bool operator==(const Coordinates&) const = default;
};

Coordinates coordinates(const Measurement& measurement);

/// The same place as a study plans it, on whatever machine.
Coordinates on_any_machine(Coordinates at);

/// A mode that says so: "sequential", "serial" or "single".
bool is_sequential(std::string_view mode);

/// "mnist-sync, sync, 4 ranks x 2 threads, 1/4 of the samples"; last the machine, if it is said.
std::string to_string(const Coordinates& at);

/// A cell's name for folders, "mnist-sync-sync-2x1-p0.5": what is no letter, digit, dot, plus or minus
/// becomes
/// "_".
std::string run_name(const Coordinates& at);

/// "1/8", "1", "0.3".
std::string portion_text(double portion);

/// The repeats of one cell.
struct MeasuredCell {
  Coordinates at;
  std::vector<Measurement> runs;                              ///< those that count
  std::int64_t failed = 0;                                    ///< runs that did not: they failed,
  std::int64_t disturbed = 0;                                 ///< or were disturbed where others were not
  std::vector<std::string> marks;                             ///< of those that count, each once
  std::map<std::string, Statistics, std::less<>> statistics;  ///< by name of the quantity, where measured

  /// Null if no run has measured it.
  const Statistics* find(std::string_view quantity) const;

  /// Of its runs' dataset; "" if not known.
  std::string_view dataset_hash() const;
};

/// Of each of the cell's runs that has one; an accuracy that two runs of one repeat, and so of one seed,
/// share counts once.
std::vector<double> values_of(const MeasuredCell& cell, const Quantity& quantity);

/// In capital letters: a mark as it is printed.
std::string loud(std::string mark);

/// `text` and, loudly, why it is not to be trusted: "5.5 [OVERSUBSCRIBED, DISTURBED]".
std::string marked(const std::string& text, std::span<const std::string> marks);

/// The cell of these coordinates; null if there is none.
const MeasuredCell* cell_at(std::span<const MeasuredCell> cells, const Coordinates& at);

/// The cell of what was planned at `at` with the most runs, on whatever machine; null if there is none. Runs
/// of other machines are no repeats of these.
const MeasuredCell* largest_cell_at(std::span<const MeasuredCell> cells, const Coordinates& at);

/// The same system, mode, batch policy, variant and machine; of cells, curves and tables.
template <class A, class B>
bool same_family(const A& a, const B& b) {
  return a.system == b.system && a.mode == b.mode && a.batch == b.batch && a.variant == b.variant &&
         a.machine == b.machine;
}

/// Adds those that are not there yet.
void add_marks(std::vector<std::string>& all, std::span<const std::string> marks);

/// More workers than cores: such times are in no law, and no advice.
bool is_oversubscribed(std::span<const std::string> marks);

/// Groups runs by their coordinates, in the order of first appearance. Failed runs are counted, nothing else;
/// disturbed ones too where the cell has others, or the same repeat was made anew; otherwise they stand and
/// the cell bears the mark. Absent core-seconds become makespan x ranks x threads.
std::vector<MeasuredCell> cells_of(std::span<const Measurement> measurements);

}  // namespace convoke::study
