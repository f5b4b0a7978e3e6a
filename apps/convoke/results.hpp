#pragma once
#include <filesystem>
#include <string>

#include "convoke/core/settings.hpp"
#include "convoke/data/dataset.hpp"
#include "convoke/recipe/recipe.hpp"
#include "convoke/report/run_record.hpp"
#include "convoke/run/run_folder.hpp"
#include "convoke/train/verdict.hpp"

namespace convoke::app {

/// What a run ends with, at rank 0: evaluation.json, then summary.json, which makes it complete, then
/// report.html, unless `run.report` of the recipe is false. `tested`: the dataset of the verdict. Throws
/// Error where a file cannot be written; without the page, which is only looked at, there is a warning
/// instead.
void write_results(const run::RunFolder& folder, const Settings& summary, const train::Verdict& verdict,
                   const data::Dataset& tested, const recipe::Recipe& recipe);

/// Where it all is: the folder, and the page if there is one. A line each.
std::string places_of(const run::RunFolder& folder);

/// A run with its recipe as settings. Throws Error as report::read_run and for a recipe that is no TOML.
report::RunRecord read_run_and_recipe(const std::filesystem::path& folder);

/// "Made by convoke 1.0 report.": the line on every page of runs.
std::string made_by_line();

}  // namespace convoke::app
