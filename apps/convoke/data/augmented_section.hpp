#pragma once
#include <filesystem>
#include <string>

#include "convoke/report/page.hpp"

namespace convoke::app {

/// Adds a section with some training samples of the dataset, each as stored and as augmented by the recipe in
/// its first epochs. `recipe`: see Recipe::load. Throws Error if the recipe does not augment, or the dataset
/// has no 8-bit pictures or lacks the training split.
void add_augmented(report::Page& page, const std::filesystem::path& dataset, const std::string& recipe);

}  // namespace convoke::app
