#pragma once
#include <string>
#include <string_view>

namespace convoke::report {

/// Text for HTML, in elements and in quoted attributes: & < > " ' are replaced by their names, control
/// characters and bytes that are not UTF-8 by U+FFFD.
std::string escape(std::string_view text);

}  // namespace convoke::report
