#pragma once
#include <cstddef>
#include <map>
#include <span>
#include <string>

namespace convoke::report {

/// Returns short forms of names, of at most `characters` (8 or more): a longer name keeps its beginning and
/// end, with "…" between. Different names have different short forms: "…" replaces a common part near the
/// middle; if there is no such part, a number follows.
std::map<std::string, std::string> distinct_names(std::span<const std::string> names, std::size_t characters);

}  // namespace convoke::report
