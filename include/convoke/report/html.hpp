#pragma once
#include <string>
#include <string_view>

namespace convoke::report {

/// Text as it may stand in HTML, in elements and in quoted attributes: & < > " ' are named, bytes that are no
/// UTF-8 and control characters become U+FFFD.
std::string escape(std::string_view text);

/// Whether the first bytes of a file are those of an HTML page, of whoever made it.
bool begins_as_page(std::string_view bytes);

}  // namespace convoke::report
