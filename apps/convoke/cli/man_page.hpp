#pragma once
#include <string>

#include "cli/manual.hpp"

namespace convoke::app {

/// "convoke-study-analyse.1"
std::string man_page_name(const Manual& manual);

/// The manual page of a command, for `man`: macros of the package man, in ASCII.
std::string man_page(const Manual& manual, const std::string& version);

}  // namespace convoke::app
