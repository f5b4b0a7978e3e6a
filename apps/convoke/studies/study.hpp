#pragma once
#include <CLI/CLI.hpp>
#include <functional>

namespace convoke::app {

/// `convoke study FILE.toml`, `study analyse` and `study predict`. Returns what to do once the options are
/// read.
std::function<int()> add_study(CLI::App& parser);

}  // namespace convoke::app
