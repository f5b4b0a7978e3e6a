#pragma once
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>

#include "convoke/study/tables/measurement.hpp"

namespace convoke::study {

/// Reads the measurement of a finished run from its folder, without coordinates and marks. Phases are means
/// over the ranks; the time of an epoch is the mean over the epochs of the slowest member; the training
/// accuracy is that of the last epoch, the mean over the members. `columns`: names with dots of further
/// numbers of summary.json. Throws Error naming the file if it is missing or not from Convoke.
Measurement read_finished_run(const std::filesystem::path& folder, std::span<const std::string> columns = {});

/// Returns those of these numbers that the run's summary.json has. Throws Error if it cannot be read.
std::map<std::string, double, std::less<>> further_numbers(const std::filesystem::path& folder,
                                                           std::span<const std::string> columns);

/// Returns the placement of its ranks in a comparable form, "host 0: 0; host 0: 1": hosts are numbered by
/// their first rank, because a queue may assign any of several equal hosts. Empty if environment.json has no
/// placement.
std::string bindings_of(const std::filesystem::path& folder);

}  // namespace convoke::study
