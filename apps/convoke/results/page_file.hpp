#pragma once
#include <filesystem>
#include <functional>

#include "convoke/report/page.hpp"

namespace convoke::app {

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
