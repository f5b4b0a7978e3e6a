#pragma once
#include <cstdint>
#include <string>

#include "convoke/core/settings.hpp"
#include "convoke/report/page.hpp"
#include "convoke/study/analysis/analysis.hpp"

namespace convoke::report {

/// The origin of a study's times, as far as known; all empty for a table of times alone.
struct StudyOrigin {
  std::string toml;           ///< the study's file
  std::string command;        ///< the command that repeats the study
  Settings environment = {};  ///< of one of its runs
  std::int64_t missing = 0;   ///< lower bound of the runs that are missing
  std::string resume = {};    ///< the command that makes the missing runs
};

/// Returns a study as a page: its results in sentences, time, speed-up and efficiency over the workers with
/// intervals and the ideal line, predictions by Amdahl's law, fractions of the data, accuracy by workers and
/// by cost, phases, costs on machines, cost and time and accuracy with the Pareto-optimal configurations, and
/// every table of the analysis. Marked measurements are separate series in charts, named after their mark,
/// hollow and dashed. `made_by`: a line about the origin of the page.
Page study_page(const std::string& title, const study::Analysis& analysis, const StudyOrigin& origin,
                const std::string& made_by);

}  // namespace convoke::report
