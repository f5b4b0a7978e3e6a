#pragma once
#include <filesystem>
#include <functional>

#include "convoke/report/page.hpp"

namespace convoke::app {

/// Tells before minutes are spent whether there can be a page and, in a folder which is made if need be, its
/// figures; empty: not wanted. What is there is left as it is. A page may take the place of a page alone,
/// never of another file, a device or a folder. Throws Error naming the place and the reason, or for a page
/// what is not installed.
void require_outputs(const std::filesystem::path& html, const std::filesystem::path& figures);

/// Writes a page, whole or not at all, and its charts, tables and pictures for a paper
/// (report::write_figures); empty: not wanted. Prints what was written.
void write_outputs(const report::Page& page, const std::filesystem::path& html,
                   const std::filesystem::path& figures);

/// The page alone at the end of work that counts: without it there is a warning that says why, and nothing is
/// printed otherwise. It never throws.
void write_page_or_warn(const std::function<report::Page()>& make, const std::filesystem::path& file);

}  // namespace convoke::app
