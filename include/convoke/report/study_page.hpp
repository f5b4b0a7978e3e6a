#pragma once
#include <cstdint>
#include <string>

#include "convoke/core/settings.hpp"
#include "convoke/report/page.hpp"
#include "convoke/study/analysis/analysis.hpp"

namespace convoke::report {

/// Where a study's times come from, as far as it is known: of anybody's table nothing is.
struct StudyOrigin {
  std::string toml;           ///< the study's file
  std::string command;        ///< that repeats it
  Settings environment = {};  ///< of one of its runs
  std::int64_t missing = 0;   ///< runs, at least, that it asks for and that are not there
  std::string resume = {};    ///< the command that makes them
};

/// A study as a page: what there is to say about it in sentences, time, speed-up and efficiency over the
/// workers with intervals and the ideal line, what Amdahl's law predicts, portions of the data, accuracy by
/// cost, phases, costs on machines, and every table of the analysis. Figures that are marked stand apart in
/// charts, under the name of their mark, hollow and dashed. `made_by`: a line on how the page was made.
Page study_page(const std::string& title, const study::Analysis& analysis, const StudyOrigin& origin,
                const std::string& made_by);

}  // namespace convoke::report
