#pragma once
#include <span>
#include <string>
#include <vector>

#include "convoke/study/running/configuration.hpp"
#include "convoke/study/tables/measurement.hpp"

namespace convoke::study {

/// Returns a header line and one line for each configuration: counted runs, mean makespan, its 95 % interval
/// and relative error, accuracy, and in capitals why figures are not reliable; such a line begins with "!".
std::vector<std::string> configuration_table(std::span<const Configuration> configurations,
                                             std::span<const Measurement> runs);

}  // namespace convoke::study
