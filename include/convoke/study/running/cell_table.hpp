#pragma once
#include <span>
#include <string>
#include <vector>

#include "convoke/study/running/configuration.hpp"
#include "convoke/study/tables/measurement.hpp"

namespace convoke::study {

/// A line for each cell under a line of titles: runs that count, mean makespan, its 95 % interval and
/// relative error, accuracy, and in capitals why figures are not to be trusted; "!" begins such a line.
std::vector<std::string> cell_table(std::span<const Configuration> cells, std::span<const Measurement> runs);

}  // namespace convoke::study
