#include "count_bytes.hpp"

#include <array>

namespace convoke::explore {

// Uses four tables in turn: in runs of one value, such as backgrounds, one table would wait for its own last
// store.
void count_bytes(const std::uint8_t* values, std::size_t n, std::size_t stride, ByteCounts& counts) {
  std::array<std::array<std::uint32_t, 256>, 4> tables{};
  std::size_t i = 0;
  for (; i + 4 <= n; i += 4) {
    ++tables[0][values[i * stride]];
    ++tables[1][values[(i + 1) * stride]];
    ++tables[2][values[(i + 2) * stride]];
    ++tables[3][values[(i + 3) * stride]];
  }
  for (; i < n; ++i) ++tables[0][values[i * stride]];
  for (std::size_t value = 0; value < counts.size(); ++value) {
    for (const auto& table : tables) counts[value] += table[value];
  }
}

}  // namespace convoke::explore
