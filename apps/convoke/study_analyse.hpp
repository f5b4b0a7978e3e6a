#pragma once
#include <CLI/CLI.hpp>
#include <functional>

namespace convoke::app {

/// Adds `analyse` to the parser of `convoke study`, and returns what to do if it was asked for.
std::function<int()> add_study_analyse(CLI::App& study);

}  // namespace convoke::app
