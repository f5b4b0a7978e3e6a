#pragma once
#include <string>

/// Returns the path of a file or folder of the project, such as "docs/recipes.md".
std::string source_path(const std::string& path);
