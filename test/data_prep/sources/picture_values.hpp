#pragma once
#include <cstdint>
#include <vector>

/// Picture `i` of make_records.py and make_shards.py: (6, 5, 3).
inline std::vector<std::uint8_t> picture_values(int i) {
  std::vector<std::uint8_t> values;
  for (int y = 0; y < 6; ++y) {
    for (int x = 0; x < 5; ++x) {
      for (int c = 0; c < 3; ++c)
        values.push_back(static_cast<std::uint8_t>(40 * i + 9 * y + 17 * x + 80 * c));
    }
  }
  return values;
}
