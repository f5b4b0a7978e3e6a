#pragma once
#include "convoke/study/prediction/step_prediction.hpp"

// The exchanges between ranks, in simulated time.

namespace convoke::study {

/// The time of an exchange.
struct ExchangeTime {
  double end = 0;               ///< seconds from the start until the last rank has the result
  double handling_seconds = 0;  ///< the most time that a rank's core has spent on it
};

/// A step in which the ranks sum their gradients. `computation`: seconds of each rank, without the update.
ExchangeTime sum_gradients(const StepProfile& profile, const Cluster& cluster, int ranks, double computation);

/// The average of the models of all ranks (engine::ModelAverage): sums in slices, one after another.
ExchangeTime average_models(const StepProfile& profile, const Cluster& cluster, int ranks);

}  // namespace convoke::study
