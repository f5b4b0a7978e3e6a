#pragma once
#include <filesystem>
#include <span>
#include <string>

#include "convoke/report/page.hpp"
#include "convoke/study/analysis/analysis.hpp"

namespace convoke::app {

/// True for a folder with measurements.csv or study.toml, and for a table of times.
bool is_study(const std::filesystem::path& path);

/// Returns the table of times of a study, which is named by its folder or by the table.
std::filesystem::path table_of(const std::filesystem::path& study);

/// Returns the name of that folder or table.
std::string title_of(const std::filesystem::path& study);

/// Reads that table. Throws Error like study::read_table, and for a folder without finished runs.
study::PublishedTable read_measurements(const std::filesystem::path& study);

/// Analyses the measurements of these studies as one study: with predictions up to four times the measured
/// workers, with the strictest of their targets, and with costs if there is a machines.toml next to a study
/// (the first counts). Throws Error like study::read_table, study::read_machines and study::analyze, and for
/// a table that is named twice.
study::Analysis analysis_of(std::span<const std::filesystem::path> studies);

/// The page of these studies, with the study.toml of each if it exists; for several studies it names the
/// tables. Throws Error like analysis_of.
report::Page study_page_of(std::span<const std::filesystem::path> studies);

/// Writes analysis.json and report.html into the folder of a study that has ended or was stopped. A failure
/// is only a warning, since the measurements are safe.
void write_study_results(const std::filesystem::path& folder);

}  // namespace convoke::app
