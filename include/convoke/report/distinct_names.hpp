#pragma once
#include <cstddef>
#include <map>
#include <span>
#include <string>

namespace convoke::report {

/// What names are called where there is room for so many characters (8 or more): those that are longer, by
/// their beginning and end with "…" between. Names that differ are called differently: "…" stands where they
/// do not differ, about in the middle, and where that cannot be a number follows.
std::map<std::string, std::string> distinct_names(std::span<const std::string> names, std::size_t characters);

}  // namespace convoke::report
