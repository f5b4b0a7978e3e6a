#pragma once
#include <cmath>

#include "convoke/explore/vectors.hpp"

/// Makes five heaps of points, as in golden.py: point i, coordinate j is
/// 3 cos(1.7 (i % 5) j + j) + sin(12.9898 i + 78.233 j).
inline convoke::explore::Matrix heaps(std::int64_t n, std::int64_t d) {
  convoke::explore::Matrix points(n, d);
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t j = 0; j < d; ++j) {
      const auto c = static_cast<double>(i % 5);
      const auto a = static_cast<double>(i);
      const auto b = static_cast<double>(j);
      points(i, j) = 3 * std::cos(1.7 * c * b + b) + std::sin(12.9898 * a + 78.233 * b);
    }
  }
  return points;
}
