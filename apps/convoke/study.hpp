#pragma once
#include <CLI/CLI.hpp>
#include <functional>

namespace convoke::app {

/// `convoke study FILE.toml`, and its sub-command `analyse`. Returns what to do once the options are read.
std::function<int()> add_study(CLI::App& parser);

}  // namespace convoke::app
