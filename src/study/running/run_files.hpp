#pragma once
#include <filesystem>
#include <string>

#include "convoke/core/settings.hpp"

// Reads files of finished runs, and refuses missing values.

namespace convoke::study {

/// Throws Error naming the file if it cannot be read.
Settings require_json(const std::filesystem::path& file);

/// Returns the number at `path`, keys with dots. Throws Error naming the file of `table` if there is none.
double require(const Settings& table, const std::string& path);

}  // namespace convoke::study
