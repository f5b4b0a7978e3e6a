#pragma once
#include <algorithm>
#include <string_view>

#include "support/catch.hpp"

/// Returns the chart or the table of a page that has this title; the test ends if there is none.
template <class All>
const auto& called(const All& all, std::string_view title) {
  CAPTURE(title);
  const auto found = std::ranges::find_if(all, [&](const auto& each) { return each.title == title; });
  REQUIRE(found != all.end());
  return *found;
}
