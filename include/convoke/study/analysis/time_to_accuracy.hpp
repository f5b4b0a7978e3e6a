#pragma once
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "convoke/study/analysis/statistics.hpp"
#include "convoke/study/tables/cells.hpp"

namespace convoke::study {

/// A validation while a model was trained.
struct Validation {
  double seconds = 0;   ///< of training steps before it
  double accuracy = 0;  ///< on the validation samples
};

/// The validations of a run at the ends of its epochs, from its metrics.jsonl; none if it had no validation
/// samples. Of an ensemble the mean accuracy of the members that were still trained, and the time of the
/// slowest: their vote is not known before the end. Of more members than `ranks` each rank trains several in
/// turn (train::Groups), so the later ones begin when the earlier ones are done. Throws Error naming file and
/// line that is no record; what a killed run left of its last line is passed over.
std::vector<Validation> read_validations(const std::filesystem::path& metrics, std::int64_t ranks);

/// The seconds of the first validation that reached the accuracy, as DAWNBench has it (Coleman et al., 2017);
/// none if none did. `validations` in the order of time.
std::optional<double> seconds_to(double accuracy, std::span<const Validation> validations);

/// How long the runs of a cell took to an accuracy.
struct TimeToAccuracy {
  std::size_t cell = 0;  ///< place in the cells
  double accuracy = 0;
  std::int64_t runs = 0;              ///< that tell their validations,
  std::int64_t reached = 0;           ///< and reached it
  std::optional<Statistics> seconds;  ///< of those that did
};

/// Of every cell whose runs left their validations in `study`/runs/<cell>-<repeat>/metrics.jsonl.
std::vector<TimeToAccuracy> times_to_accuracy(std::span<const MeasuredCell> cells,
                                              const std::filesystem::path& study, double accuracy);

}  // namespace convoke::study
