#pragma once
#include "bench.hpp"

namespace convoke::app {

/// How many samples a second become part of a lane: random ones of the recipe's shape, converted, normalised
/// and augmented by every rank and thread, without a network.
int bench_data(const BenchOptions& options);

}  // namespace convoke::app
