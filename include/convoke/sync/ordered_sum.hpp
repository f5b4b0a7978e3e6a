#pragma once
#include <cstddef>
#include <span>

#include "convoke/core/aligned_buffer.hpp"
#include "convoke/mpi/communicator.hpp"
#include "convoke/sync/bfloat16.hpp"
#include "convoke/sync/bucket.hpp"

namespace convoke::sync {

/// Communicators of the two phases of OrderedSum, so that ranks may begin them in different orders.
struct SumChannels {
  explicit SumChannels(const mpi::Communicator& group)
      : scatter(group.split(0, group.rank())), gather(group.split(0, group.rank())) {}
  mpi::Communicator scatter, gather;
};

/// Sums an array over ranks as a reduce-scatter and an allgather. Every rank receives a slice of all arrays,
/// adds them in the order of ranks, and sends the sums to all. So the result depends neither on the placement
/// of ranks nor on the algorithms of the MPI library. Each rank sends 2 (n - 1) / n times the array.
///
/// Wire: the type in which the numbers are sent, float or Bfloat16. With Bfloat16, every rank adds what
/// rounding has taken from its numbers, and from its slice of the sums, to those of the next sum (error
/// feedback: Seide et al., "1-bit stochastic gradient descent", 2014; Karimireddy et al., "Error feedback
/// fixes SignSGD", 2019).
template <class Wire>
class OrderedSum final : public BucketSum {
 public:
  /// `channels` and `values` must outlive it; `values` has at most kMostElements, as many on all ranks.
  OrderedSum(const SumChannels& channels, std::span<float> values);
  static constexpr std::size_t kMostElements = std::size_t{1} << 27;
  /// Returns the bytes() of a sum of so many values over so many ranks.
  static std::size_t predict_bytes(std::size_t values, int ranks);

  void start() override;
  bool combine(bool wait) override;
  bool finish(bool wait) override;
  std::size_t bytes() const override;

 private:
  const SumChannels& channels_;
  std::span<float> values_;
  std::size_t slice_;                        ///< elements of a slice; the last slices may be shorter or empty
  AlignedBuffer<Wire> outgoing_, incoming_;  ///< a slice for each rank
  AlignedBuffer<float> total_;               ///< the sum of this rank's slice
  AlignedBuffer<float> lost_, lost_total_;   ///< by rounding, of values_ and of total_; empty if none is lost
  mpi::Request request_;
};

extern template class OrderedSum<float>;
extern template class OrderedSum<Bfloat16>;

}  // namespace convoke::sync
