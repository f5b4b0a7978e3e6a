#pragma once
#include <filesystem>
#include <string>

#include "convoke/study/tables/measurement.hpp"

namespace convoke::study {

/// Reads the measurement of a finished run from its folder, without coordinates and marks. Phases are means
/// over the ranks; the time of an epoch is the mean over the epochs of the slowest member. Throws Error
/// naming the file if it is missing or not from Convoke.
Measurement read_finished_run(const std::filesystem::path& folder);

/// Returns the placement of its ranks in a comparable form, "host 0: 0; host 0: 1": hosts are numbered by
/// their first rank, because a queue may assign any of several equal hosts. Empty if environment.json has no
/// placement.
std::string bindings_of(const std::filesystem::path& folder);

}  // namespace convoke::study
