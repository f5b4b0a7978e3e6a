#pragma once
#include <cstdint>
#include <utility>
#include <vector>

namespace convoke::interop {

/// Returns the indices start, start + step, ... before `end` along an axis of this extent, as NumPy's
/// x[start:end:step]: numbers below 0 count from the end, and those beyond an end stand for it. `step` != 0.
std::vector<std::int64_t> slice_indices(std::int64_t extent, std::int64_t start, std::int64_t end,
                                        std::int64_t step);

/// Returns (first index, number) of each run of neighbors.
std::vector<std::pair<std::int64_t, std::int64_t>> runs_of(const std::vector<std::int64_t>& indices);

}  // namespace convoke::interop
