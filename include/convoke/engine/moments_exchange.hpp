#pragma once
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "convoke/mpi/communicator.hpp"

namespace convoke::engine {

/// Sums the moments of synchronized batch norms (nn::Network::forward_stops) over micro-batches,
/// worker threads and the ranks of a group, within a step. Each worker adds the moments of its micro-batches,
/// all wait for the sum, and each reads it. With `exact` the terms are summed as integers, so that the sum
/// does not depend on how the micro-batches are distributed. Allocates nothing after the first step. Only
/// worker 0 calls MPI, on a separate communicator, so that buckets of gradients can be sent at the same time.
class MomentsExchange {
 public:
  /// For `workers` threads of this rank, and steps of at most `micro_batches` micro-batches. Collective over
  /// `group`. Throws Error if there are more micro-batches than `exact` can sum.
  MomentsExchange(const mpi::Communicator& group, int workers, std::int64_t micro_batches, bool exact);

  /// Call this before the workers start a step.
  void begin_step();

  /// Adds the moments of some micro-batches to those of `worker`. Returns false if exact sums cannot add one
  /// of them: it is not finite, or beyond 2^40.
  bool add(int worker, std::span<const double> moments);

  /// Returns when the sum of `count` moments can be read. Every worker of every rank calls it, with or
  /// without micro-batches, and with the same `count`. Calls `progress` while worker 0 waits for the others.
  void sum(int worker, std::size_t count, const std::function<void()>& progress);

  /// Copies the sum, which is valid until this worker calls sum() again. It is NaN if add() returned false
  /// for one of them, or if a moment was not finite.
  void read(std::span<double> moments) const;

 private:
  /// The moments of one worker, in a separate cache line.
  struct alignas(64) Part {
    std::vector<double> floats;
    std::vector<std::int64_t> fixed;  ///< wide fixed point, and the number of micro-batches with bad moments
    std::size_t count = 0;            ///< moments since the last sum; 0: none yet
    std::uint64_t round = 0;
    std::atomic<std::uint64_t> arrived{0};
  };
  void start(Part& part, std::size_t count) const;
  void sum_parts(std::size_t count);

  mpi::Communicator group_;
  bool exact_;
  std::vector<std::unique_ptr<Part>> parts_;  ///< by worker; the first becomes the sum
  std::vector<double> total_;
  std::atomic<std::uint64_t> done_{0};
};

}  // namespace convoke::engine
