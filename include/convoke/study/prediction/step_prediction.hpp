#pragma once
#include <cstdint>

#include "convoke/study/prediction/cluster.hpp"
#include "convoke/study/prediction/step_profile.hpp"

namespace convoke::study {

/// A step on several ranks: the mean over the steps from one exchange to the next.
struct StepPrediction {
  int ranks = 1;
  std::int64_t micro_batches = 0;  ///< of the busiest rank
  double compute_seconds = 0;      ///< with this rank's part of the update
  double summing_seconds = 0;      ///< core time for copying, adding and messages, of the busiest rank
  double exposed_seconds = 0;      ///< waiting for other ranks and the network
  double images_per_second = 0;
  double speedup = 0;     ///< in images/s, relative to one rank
  double efficiency = 0;  ///< speedup / ranks

  double seconds() const { return compute_seconds + summing_seconds + exposed_seconds; }
};

/// Predicts a synchronous step by a discrete-event simulation of all ranks. The exchange follows the code of
/// a real run: sync::cut_buckets and sync::AllReduce decide what is sent, when and in which order, and
/// engine::NodeShare what each rank of a node adds; only time and the network are simulated. Every rank
/// computes as long as the busiest one. Not modeled: ranks of unequal speed, and other traffic. Throws Error
/// if the profile lacks the micro-batch count.
StepPrediction predict_step(const StepProfile& profile, const Cluster& cluster, int ranks, Scaling scaling);

}  // namespace convoke::study
