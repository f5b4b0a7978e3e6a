#pragma once
#include <filesystem>
#include <string>

#include "convoke/report/page.hpp"

namespace convoke::app {

/// Adds what the networks of a recipe will see: some training samples of the dataset, each as it is stored
/// and as it looks in the first epochs. `recipe`: as Recipe::load takes it. Throws Error if the recipe
/// augments nothing, or the dataset holds no 8-bit images or not the recipe's training split.
void add_augmented(report::Page& page, const std::filesystem::path& dataset, const std::string& recipe);

}  // namespace convoke::app
