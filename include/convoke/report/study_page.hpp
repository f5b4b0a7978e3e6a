#pragma once
#include <string>

#include "convoke/report/page.hpp"
#include "convoke/study/analysis.hpp"

namespace convoke::report {

/// A study as a page: what there is to say about it in sentences, time, speed-up and efficiency over the
/// workers with intervals and the ideal line, what Amdahl's law predicts, portions of the data, accuracy by
/// cost, phases, costs on machines, and every table of the analysis. Figures that are marked stand apart in
/// charts, under the name of their mark. `study_toml`: what was to be run; may be empty. `made_by`: a line on
/// how the page was made.
Page study_page(const std::string& title, const study::Analysis& analysis, const std::string& study_toml,
                const std::string& made_by);

}  // namespace convoke::report
