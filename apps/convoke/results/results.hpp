#pragma once
#include <filesystem>
#include <string>

#include "convoke/recipe/recipe.hpp"
#include "convoke/report/run_record.hpp"
#include "convoke/run/run_folder.hpp"

namespace convoke::app {

/// Writes report.html of a complete run, at rank 0, unless `run.report` of the recipe is false. A page that
/// cannot be written is a warning: the results are complete without it.
void write_page(const run::RunFolder& folder, const recipe::Recipe& recipe);

/// Lines that name the folder of a run, and its page if there is one.
std::string places_of(const run::RunFolder& folder);

/// Reads a run, with its recipe as settings. Throws Error like report::read_run, and for a recipe that is not
/// TOML.
report::RunRecord read_run_and_recipe(const std::filesystem::path& folder);

/// "Made by convoke 1.0 report.", for every page of runs.
std::string made_by_line();

}  // namespace convoke::app
