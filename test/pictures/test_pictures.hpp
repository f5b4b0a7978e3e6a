#pragma once
#include "convoke/pictures/decode.hpp"
#include "support/catch.hpp"
#include "support/source_path.hpp"

inline const std::filesystem::path kPictures = source_path("test/data_prep/files/pictures");

/// The largest difference between two values of pictures of one size.
inline int largest_difference(const convoke::pictures::Image& a, const convoke::pictures::Image& b) {
  REQUIRE(a.extent() == b.extent());
  REQUIRE(a.values.size() == b.values.size());
  int largest = 0;
  for (std::size_t i = 0; i < a.values.size(); ++i) {
    largest = std::max(largest, std::abs(a.values[i] - b.values[i]));
  }
  return largest;
}
