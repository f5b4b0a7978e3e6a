#pragma once
#include <cstdint>
#include <filesystem>
#include <map>
#include <vector>

namespace convoke::study {

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

}  // namespace convoke::study
