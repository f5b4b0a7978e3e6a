#pragma once
#include <cstdint>
#include <vector>

#include "convoke/mpi/communicator.hpp"
#include "convoke/recipe/recipe.hpp"
#include "convoke/study/prediction/step_prediction.hpp"

namespace convoke::app {

/// Measures the step of a synchronous recipe on one rank of `threads` threads, on random data and without an
/// exchange, for each micro-batch count. All ranks of `world` measure at the same time, so that they share
/// caches, memory and clock as the ranks of a node do; the slowest counts. `seconds`: approximate time for
/// each micro-batch count. Collective.
study::StepProfile measure_step(const recipe::Recipe& recipe, int threads,
                                const std::vector<std::int64_t>& micro_batch_counts, double seconds,
                                const mpi::Communicator& world);

struct CheckedStep {
  double seconds = 0;          ///< with the exchange between all ranks
  double compute_seconds = 0;  ///< of a rank, without exchange and update
};

/// Measures a real step of all ranks of `world` (with local SGD, the mean from one average to the next) in
/// turns with the step of a rank alone that has `micro_batches` micro-batches, so that both see the same
/// machine. Collective.
CheckedStep measure_exchanging_step(const recipe::Recipe& recipe, int threads, std::int64_t micro_batches,
                                    double seconds, const mpi::Communicator& world);

}  // namespace convoke::app
