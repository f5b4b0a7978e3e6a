#pragma once
#include <string>

#include "convoke/report/page.hpp"
#include "convoke/report/run_record.hpp"

namespace convoke::report {

/// A run as a page: what it reached and cost, curves, members, classes, calibration, its worst mistakes (as
/// pictures, if the dataset is still where it was), times, environment, recipe. Of a run that is not complete
/// what there is, with a warning. `made_by`: a line on how the page was made.
Page run_page(const RunRecord& run, const std::string& made_by);

}  // namespace convoke::report
