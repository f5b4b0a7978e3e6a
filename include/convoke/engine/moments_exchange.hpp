#pragma once
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "convoke/mpi/communicator.hpp"

namespace convoke::engine {

/// Sums the moments of synchronised batch norms (nn::Network::forward_stops) over lanes, worker threads and
/// the ranks of a group, within a step: each worker adds those of its lanes, all wait for the sum, each reads
/// it. With `exact` the terms are summed as integers, so that the sum does not depend on who has which lane.
/// Allocates nothing after the first step. Worker 0 alone talks to MPI, on a communicator of its own, so that
/// buckets of gradients may be under way.
class MomentsExchange {
 public:
  /// For `workers` threads of this rank, and steps of at most `lanes` lanes. Collective over `group`. Throws
  /// Error if there are more lanes than `exact` can sum.
  MomentsExchange(const mpi::Communicator& group, int workers, std::int64_t lanes, bool exact);

  /// Before the workers start on a step.
  void begin_step();

  /// Takes the moments of some lanes into those of `worker`.
  void add(int worker, std::span<const double> moments);

  /// Called by every worker of every rank, with or without lanes, and the same `count` everywhere: returns
  /// when the sum of `count` moments is there to be read. `progress` is called while worker 0 waits for the
  /// others.
  void sum(int worker, std::size_t count, const std::function<void()>& progress);

  /// The sum, until this worker calls sum() again. A moment that was not finite, or beyond 2^40 with `exact`,
  /// makes NaN of it.
  void read(std::span<double> moments) const;

  double seconds() const { return seconds_; }  ///< of this step, in MPI

 private:
  /// The moments of one worker; a cache line of its own.
  struct alignas(64) Part {
    std::vector<double> floats;
    std::vector<std::int64_t> fixed;  ///< wide fixed point, and how many lanes had bad moments
    std::size_t count = 0;            ///< of moments, since the last sum; 0: none yet
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
  double seconds_ = 0;
};

}  // namespace convoke::engine
