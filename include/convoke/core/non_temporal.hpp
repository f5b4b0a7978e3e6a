#pragma once
#include <span>

namespace convoke {

/// Copies `from` to `to` with non-temporal stores, past the caches: for values that the workers of other
/// cores read next. A plain store to a line that other cores have read waits until they drop it, one line
/// after the other. Measured on two cores of Zen 4 (apps/bench/cache_lines.cpp), microseconds to write and to
/// read 384 kB: plain 43 and 6 within one L3, 173 and 16 between two; non-temporal 14 and 13 to 15 in both
/// cases. Call fence_non_temporal() before the other workers may read. Sizes must be equal.
void copy_non_temporal(std::span<const float> from, std::span<float> to);

/// Makes the stores of this thread's earlier copies visible before its later stores.
void fence_non_temporal();

}  // namespace convoke
