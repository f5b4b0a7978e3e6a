#pragma once
#include <filesystem>
#include <functional>
#include <string>

#include "convoke/recipe/recipe.hpp"
#include "convoke/report/page.hpp"
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

/// Returns the run with the class-activation maps of its worst mistakes (train::GradCam), the mean over its
/// members, each scaled to at most 1. Without maps if it has no model file, if its dataset is missing or has
/// other samples than those of the test, or if the network has no maps.
report::RunRecord with_class_maps(report::RunRecord run);

/// "Made by convoke 1.0 report.", for every page of runs.
std::string made_by_line();

/// Checks, before the long work, that a page and its figures can be written; an empty path: no output.
/// Creates the folder of the figures if necessary, and changes no file. A page may replace a page, but no
/// other file, device or folder. Throws Error naming the path and the reason, or what is not installed.
void require_outputs(const std::filesystem::path& html, const std::filesystem::path& figures);

/// Writes a page (completely or not at all), and its charts, tables and pictures for a paper
/// (report::write_figures); an empty path: no output. Prints the files.
void write_outputs(const report::Page& page, const std::filesystem::path& html,
                   const std::filesystem::path& figures);

/// Writes a page at the end of a run, whose results do not depend on it: a failure is only a warning. Prints
/// nothing else, and never throws.
void write_page_or_warn(const std::function<report::Page()>& make, const std::filesystem::path& file);

}  // namespace convoke::app
