#pragma once
#include <filesystem>
#include <functional>

#include "convoke/report/page.hpp"

namespace convoke::app {

/// Tells before minutes are spent whether a file can be written there. What is there is left as it is. Throws
/// Error naming it and the reason.
void require_writable(const std::filesystem::path& file);

/// The same of a folder for files, which is made if need be.
void require_folder(const std::filesystem::path& folder);

/// Writes a page, whole or not at all, and prints its name and size.
void write_page(const report::Page& page, const std::filesystem::path& file);

/// The same at the end of work that counts: without a page there is a warning that says why, and nothing is
/// printed otherwise. It never throws.
void write_page_or_warn(const std::function<report::Page()>& make, const std::filesystem::path& file);

/// Writes its charts and tables for a paper (report::write_figures), and prints how many files.
void write_figures(const report::Page& page, const std::filesystem::path& folder);

}  // namespace convoke::app
