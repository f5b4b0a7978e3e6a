#pragma once
#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "convoke/core/settings.hpp"
#include "convoke/study/tables/measurement.hpp"

namespace convoke::study {

/// Reads the measurement of a finished run from its folder, without coordinates and marks. Phases are means
/// over the ranks; the time of an epoch is the mean over the epochs of the slowest member; the training
/// accuracy is that of the last epoch, the mean over the members; the epochs are those that were trained, by
/// the member that trained longest. `columns`: names with dots of further numbers of summary.json. Throws
/// Error naming the file if it is missing or not from Convoke.
Measurement read_finished_run(const std::filesystem::path& folder, std::span<const std::string> columns = {});

/// An epoch in the log of a run, metrics.jsonl. Accuracies are NaN if the log has none.
struct LoggedEpoch {
  std::int64_t epoch = 0;
  std::int64_t group = 0;  ///< of ranks; only the equality of two of them means something
  double seconds = 0;
  double accuracy = 0, validation_accuracy = 0;
};

/// Returns the epochs of each member of a run on `ranks` ranks; none if there is no log. A group of ranks
/// trains its members one after another, in ascending order, and the groups train at the same time:
/// summary.json states them. Gathered members count as a group each. If summary.json is missing or of a
/// version that does not state the groups, each rank is one, and members go round them. Throws Error naming
/// file and line that is not a record; an incomplete last line of a killed run is skipped.
std::map<std::int64_t, std::vector<LoggedEpoch>> logged_epochs(const std::filesystem::path& run,
                                                               std::int64_t ranks);

/// Returns those of these numbers that the run's summary.json has. Throws Error if it cannot be read.
std::map<std::string, double, std::less<>> further_numbers(const std::filesystem::path& folder,
                                                           std::span<const std::string> columns);

/// Returns the placement of its ranks in a comparable form, "host 0: 0; host 0: 1": hosts are numbered by
/// their first rank, because a queue may assign any of several equal hosts. Empty if environment.json has no
/// placement.
std::string bindings_of(const std::filesystem::path& folder);

/// Completes the folder of an ensemble whose members were trained one after another, each alone, and which
/// `convoke gather` made from the runs in members/: its summary.json and metrics.jsonl become those of a run
/// in which all members trained at the same time, each on its own cores. The makespan is that of the slowest
/// member plus the gathering. Each member evaluated itself on all test samples, which is the work of a rank
/// of that run, so the votes of `convoke gather` do not count. Competition of members for memory, caches and
/// the clock of the processor is missing. Adds `emulated` to summary.json. Throws Error naming a file that is
/// missing or not from Convoke.
void complete_emulated_run(const std::filesystem::path& folder);

/// Returns the content of a file of a finished run. Throws Error naming it if it cannot be read.
Settings require_json(const std::filesystem::path& file);

/// Returns the number at `path`, keys with dots. Throws Error naming the file of `table` if there is none.
double require(const Settings& table, const std::string& path);

}  // namespace convoke::study
