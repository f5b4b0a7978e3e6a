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

/// Writes the results of a run, at rank 0: evaluation.json, then summary.json, which makes the run complete,
/// then report.html, unless `run.report` of the recipe is false. `tested`: the dataset of the verdict. Throws
/// Error if a file cannot be written; for the page, prints a warning instead.
void write_results(const run::RunFolder& folder, const Settings& summary, const train::Verdict& verdict,
                   const data::Dataset& tested, const recipe::Recipe& recipe);

/// Lines that name the folder of a run, and its page if there is one.
std::string places_of(const run::RunFolder& folder);

/// Reads a run, with its recipe as settings. Throws Error like report::read_run, and for a recipe that is not
/// TOML.
report::RunRecord read_run_and_recipe(const std::filesystem::path& folder);

/// "Made by convoke 1.0 report.", for every page of runs.
std::string made_by_line();

}  // namespace convoke::app
