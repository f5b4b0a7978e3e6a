#pragma once
#include <filesystem>
#include <span>

#include "convoke/report/page.hpp"
#include "convoke/study/analysis/analysis.hpp"

namespace convoke::app {

/// A folder with measurements.csv, or such a table itself.
bool is_study(const std::filesystem::path& path);

/// What follows from the measurements of these studies, taken together as one: with predictions for four
/// times as many workers as were measured, by the strictest target of theirs, and costs where machines.toml
/// lies beside one (the first). Throws Error as study::read_table and study::read_machines, and for a table
/// that is named twice.
study::Analysis analysis_of(std::span<const std::filesystem::path> studies);

/// The page of them, with study.toml of each if it is there; of several it names the tables. Throws Error as
/// analysis_of.
report::Page study_page_of(std::span<const std::filesystem::path> studies);

/// What a study ends with, also one that was stopped: analysis.json and report.html in its folder. Where they
/// cannot be made there is a warning: the measurements are there.
void write_study_results(const std::filesystem::path& folder);

}  // namespace convoke::app
