#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "convoke/core/timeline.hpp"
#include "convoke/mpi/communicator.hpp"
#include "convoke/sync/bucket.hpp"
#include "convoke/sync/ordered_sum.hpp"

namespace convoke::sync {

/// The data that ranks exchange in a step: the gradient arena as floats ("fast") or as fixed point ("exact");
/// the other one is empty. Belongs to the caller; the same memory in every step.
struct Exchange {
  std::span<float> floats;
  std::span<std::int64_t> fixed;
  std::size_t bf16_elements = 0;  ///< the first so many floats may be sent as bf16
  std::size_t size() const { return floats.empty() ? fixed.size() : floats.size(); }
};

/// Sums the gradients over the group in every step, in buckets: fixed slices of the exchange, the same on all
/// ranks, so that no negotiation is needed. A bucket's sum starts in place as soon as this rank's part of it
/// is complete, and runs while backward computes the next. A group of one rank does nothing. Used by one
/// thread.
class AllReduce {
 public:
  /// Collective over `group`. The memory of `exchange` must outlive it.
  AllReduce(const mpi::Communicator& group, const Exchange& exchange, const ExchangeOptions& options);
  /// Decides when the given sums run, one for each bucket. So a simulated network follows this schedule.
  AllReduce(std::vector<Bucket> buckets, std::vector<std::unique_ptr<BucketSum>> sums);

  /// Returns the bytes() of an exchange over so many ranks.
  static std::size_t predict_bytes(const ExchangeShape& shape, const ExchangeOptions& options, int ranks);
  /// Returns the size of the buffers of all sums, without those of the MPI library.
  std::size_t bytes() const;

  void begin_step();
  /// Reports that this rank's gradients in elements [0, end) are complete. May start to exchange them, and
  /// makes progress on running exchanges. Called often during backward; `end` never decreases.
  void gradients_ready(std::size_t end);
  /// Makes progress on running exchanges, and starts none.
  void poll();
  /// Called when all gradients are complete. Returns true when the exchange holds the sums over the ranks;
  /// without `wait` it returns false if that is not yet so, and must be called again.
  bool finish_gradients(bool wait = true);

  /// Number of sums in a step; 0 in a group of one.
  std::size_t buckets() const { return sums_.size(); }

 private:
  void start_next();

  std::optional<SumChannels> channels_;  // of sums in slices
  std::vector<Bucket> buckets_;
  std::vector<std::unique_ptr<BucketSum>> sums_;  // by bucket
  std::size_t started_ = 0;                       // number of buckets
  std::size_t combined_ = 0;  // number of buckets in their second phase or done, from the first one on
  std::size_t done_ = 0;      // number of buckets, from the first one on
  Flights flights_;           ///< of the buckets, for the trace
};

}  // namespace convoke::sync
