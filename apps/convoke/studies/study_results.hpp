#pragma once
#include <filesystem>

#include "convoke/report/page.hpp"
#include "convoke/study/analysis.hpp"

namespace convoke::app {

/// A folder with measurements.csv, or such a table itself.
bool is_study(const std::filesystem::path& path);

/// What follows from the measurements: with predictions for four times as many workers as were measured, and
/// costs where machines.toml lies beside them. Throws Error as study::read_table and study::read_machines.
study::Analysis analysis_of(const std::filesystem::path& study);

/// The page of a study, with its study.toml if it is there. Throws Error as analysis_of.
report::Page study_page_of(const std::filesystem::path& study);

/// What a study ends with, also one that was stopped: analysis.json and report.html in its folder. Where they
/// cannot be made there is a warning: the measurements are there.
void write_study_results(const std::filesystem::path& folder);

}  // namespace convoke::app
