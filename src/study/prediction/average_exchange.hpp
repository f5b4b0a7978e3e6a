#pragma once
#include <cstddef>
#include <memory>
#include <vector>

#include "convoke/study/prediction/step_profile.hpp"
#include "study/prediction/simulated_world.hpp"
#include "study/prediction/slice_sum.hpp"

namespace convoke::study {

/// The average of the models of all ranks (engine::ModelAverage), in simulated time: sums in slices, one
/// after another.
class AverageExchange {
 public:
  AverageExchange(const StepProfile& profile, const Cluster& cluster, int ranks);

  /// Returns the seconds from the start until the last rank has the average.
  double run();
  /// Returns the most time that a rank's core has spent on it.
  double handling_seconds() const { return world_.handling_seconds(); }

 private:
  struct Rank {
    std::vector<std::unique_ptr<SliceSum>> sums;
    std::size_t done = 0;   ///< sums
    bool combined = false;  ///< the second phase of the current sum has begun
  };
  void advance(int rank);

  double copy_seconds_;  ///< from the model to a sum, and back
  SimulatedWorld world_;
  PeerGroup group_;
  std::vector<std::unique_ptr<SliceSumPhases>> phases_;  ///< by sum
  std::vector<Rank> ranks_;
};

}  // namespace convoke::study
