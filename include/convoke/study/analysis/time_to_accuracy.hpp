#pragma once
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <vector>

#include "convoke/study/analysis/statistics.hpp"
#include "convoke/study/tables/measured_configuration.hpp"
#include "convoke/study/tables/measurement.hpp"

namespace convoke::study {

/// A validation during the training of a model.
struct Validation {
  double seconds = 0;   ///< of training steps before it
  double accuracy = 0;  ///< on the validation samples
};

/// Reads the validations at the ends of a run's epochs from its folder; empty if it had no validation
/// samples. For an ensemble, accuracy is the mean over the members still in training, and time is that of the
/// slowest member: the vote is known only at the end. If a group of ranks trained several members in turn,
/// later members start when earlier ones end. Throws Error naming file and line that is not a record; an
/// incomplete last line of a killed run is skipped.
std::vector<Validation> read_validations(const std::filesystem::path& run, std::int64_t ranks);

/// Returns the seconds of the first validation that reached the accuracy, as defined by DAWNBench (Coleman et
/// al., 2017); empty if none did. `validations` in the order of time.
std::optional<double> seconds_to(double accuracy, std::span<const Validation> validations);

/// The time that the runs of a configuration took to reach an accuracy.
struct TimeToAccuracy {
  std::size_t configuration = 0;  ///< index of the configuration
  double accuracy = 0;
  std::int64_t runs = 0;                   ///< runs with validations,
  std::int64_t reached = 0;                ///< of which this many reached it
  std::optional<Statistics> seconds = {};  ///< of the runs that reached it
};

/// Computes it for every configuration of which runs among `rows` have their validations in
/// runs/<configuration>-<repeat>/metrics.jsonl in the folder of the row. Runs that the configuration leaves
/// out do not count.
std::vector<TimeToAccuracy> times_to_accuracy(std::span<const MeasuredConfiguration> configurations,
                                              std::span<const TableRow> rows, double accuracy);

}  // namespace convoke::study
