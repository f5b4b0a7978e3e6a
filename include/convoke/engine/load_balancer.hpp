#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "convoke/engine/shares.hpp"
#include "convoke/mpi/communicator.hpp"

namespace convoke::engine {

/// Divides the micro-batches of a step among the ranks of a group by their measured speed. The ranks
/// tell each other their times after 4, 8, 16, ... 256 full steps, and then after every 256. A new time
/// counts as much as all times before it. All ranks know all times, so all make the same decision.
class LoadBalancer {
 public:
  /// `micro_batches`: of a full step, at least one for each rank. The shares are equal at first.
  LoadBalancer(std::int64_t micro_batches, std::int64_t workers, const mpi::Communicator& group);

  /// Call it after each full step; `micro_batch_seconds`: the time in which a worker of this rank computed a
  /// micro-batch. Returns new shares, on all ranks, if they would make a step shorter by more than a
  /// twentieth. Collective.
  std::optional<MicroBatchShares> after_step(double micro_batch_seconds);

 private:
  void exchange(double micro_batch_seconds);

  mpi::Communicator group_;
  std::int64_t workers_;
  std::vector<std::int64_t> counts_;  ///< micro-batches of each rank in a full step
  std::vector<RankSpeed> speeds_;     ///< of all ranks; empty: none measured
  std::int64_t window_ = 4;           ///< steps between two exchanges
  std::int64_t steps_ = 0;            ///< measured in this window
  double seconds_ = 0;                ///< sum of theirs
  bool first_ = true;                 ///< the next step compiles plans
};

}  // namespace convoke::engine
