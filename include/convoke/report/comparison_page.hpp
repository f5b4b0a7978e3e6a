#pragma once
#include <span>
#include <string>

#include "convoke/report/page.hpp"
#include "convoke/report/run_record.hpp"

namespace convoke::report {

/// Two runs or more on a page: their results side by side, curves in common charts, speed-up and efficiency
/// over the first, and in what their recipes and machines differ. Runs that are not complete are in the
/// curves only, with a warning. `made_by`: a line on how the page was made.
Page comparison_page(std::span<const RunRecord> runs, const std::string& made_by);

}  // namespace convoke::report
