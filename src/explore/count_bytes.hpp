#pragma once
#include <cstddef>
#include <cstdint>

#include "convoke/explore/distribution.hpp"

namespace convoke::explore {

/// Adds to `counts` how often each value occurs among every `stride`-th of `values`, `n` of them.
void count_bytes(const std::uint8_t* values, std::size_t n, std::size_t stride, ByteCounts& counts);

}  // namespace convoke::explore
