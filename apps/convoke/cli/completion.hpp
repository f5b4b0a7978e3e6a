#pragma once
#include <string>

#include "cli/manual.hpp"

namespace convoke::app {

/// A script that completes commands, options and their values in bash, for share/bash-completion/completions.
std::string bash_completion(const Manual& program);

/// Returns such a script for zsh, with descriptions, for share/zsh/site-functions.
std::string zsh_completion(const Manual& program);

}  // namespace convoke::app
