#pragma once
#include <filesystem>
#include <string>

#include "convoke/recipe/recipe.hpp"
#include "convoke/report/run_record.hpp"
#include "convoke/run/run_folder.hpp"

namespace convoke::app {

/// report.html of a run that is complete, unless `run.report` of the recipe is false. A page that cannot be
/// written is a warning: the results are there without it. Call it at rank 0.
void write_page(const run::RunFolder& folder, const recipe::Recipe& recipe);

/// Where it all is: the folder, and the page if there is one. A line each.
std::string places_of(const run::RunFolder& folder);

/// A run with its recipe as settings. Throws Error as report::read_run and for a recipe that is not TOML.
report::RunRecord read_run_and_recipe(const std::filesystem::path& folder);

/// "Made by convoke 1.0 report.": the line on every page of runs.
std::string made_by_line();

}  // namespace convoke::app
