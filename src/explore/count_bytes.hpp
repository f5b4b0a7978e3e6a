#pragma once
#include <cstddef>
#include <cstdint>

#include "convoke/explore/distribution.hpp"

namespace convoke::explore {

/// Adds the frequency of each value among every `stride`-th of `values`, `n` of them, to `counts`.
void count_bytes(const std::uint8_t* values, std::size_t n, std::size_t stride, ByteCounts& counts);

}  // namespace convoke::explore
