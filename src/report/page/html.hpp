#pragma once
#include <string>
#include <string_view>

namespace convoke::report {

/// Escapes text for HTML elements and quoted attributes: & < > " ' become entities, control characters and
/// bytes that are not UTF-8 become U+FFFD.
std::string escape(std::string_view text);

}  // namespace convoke::report
