#pragma once

namespace convoke::os {

/// Returns the clock frequency of this core while it computes, in GHz: the best of five loops of 6 * `rounds`
/// cycles. The default takes some 10 ms.
double measure_clock_ghz(int rounds = 1 << 20);

}  // namespace convoke::os
