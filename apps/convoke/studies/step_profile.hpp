#pragma once
#include <cstdint>
#include <vector>

#include "convoke/mpi/communicator.hpp"
#include "convoke/recipe/recipe.hpp"
#include "convoke/study/analysis/step_model.hpp"

namespace convoke::app {

/// Measures the step of a synchronous recipe on one rank of `threads` threads, on random data and without an
/// exchange, for each lane count. All ranks of `world` measure at the same time, so that they share caches,
/// memory and clock as the ranks of a node do; the slowest counts. `seconds`: approximate time for each lane
/// count. Collective.
study::StepProfile measure_step(const recipe::Recipe& recipe, int threads,
                                const std::vector<std::int64_t>& lane_counts, double seconds,
                                const mpi::Communicator& world);

/// Seconds of a step with the exchange between all ranks of `world`. Collective.
double measure_exchanging_step(const recipe::Recipe& recipe, int threads, double seconds,
                               const mpi::Communicator& world);

}  // namespace convoke::app
