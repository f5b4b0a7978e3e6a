#pragma once
#include <filesystem>
#include <string>

#include "convoke/study/tables/measurement.hpp"

namespace convoke::study {

/// What the folder of a finished run says that it took, without coordinates and marks. Phases are means over
/// the ranks, the time of an epoch is the mean over the epochs of the slowest member's. Throws Error naming
/// the file that is not there or is none of Convoke's.
Measurement read_finished_run(const std::filesystem::path& folder);

/// Where its ranks ran, "host 0: 0; host 0: 1", to be compared: hosts by their first rank, since a queue
/// hands out any of those that are alike. Empty if environment.json does not tell.
std::string bindings_of(const std::filesystem::path& folder);

}  // namespace convoke::study
