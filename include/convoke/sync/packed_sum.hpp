#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "convoke/core/aligned_buffer.hpp"
#include "convoke/mpi/communicator.hpp"
#include "convoke/sync/bucket.hpp"
#include "convoke/sync/ordered_sum.hpp"

namespace convoke::sync {

// Integers in few bits, without loss, for messages: blocks of 64, each with as many bits a number as its
// largest needs, after one byte a block that says how many. A sum of gradients in fixed point takes 31 to 36
// bits a number, because its numbers are far below what 64 bits hold.

/// Returns the most bytes of so many packed numbers; 0 for none.
std::size_t most_packed_bytes(std::size_t numbers);

/// Packs `values` to `to`, which has most_packed_bytes() bytes and is aligned for 64-bit words. Returns the
/// bytes used.
std::size_t pack(std::span<const std::int64_t> values, std::byte* to);

/// Sets `values` to the numbers that pack() has written to `from`.
void unpack(const std::byte* from, std::span<std::int64_t> values);

/// Adds the numbers that pack() has written to `from` to `sum`.
void unpack_and_add(const std::byte* from, std::span<std::int64_t> sum);

/// Sums an array of integers over ranks in the two phases of OrderedSum, and sends them packed. Nothing is
/// rounded, so the sum has the same bits on any number of ranks; the messages of gradients are about as long
/// as those of floats.
class PackedSum final : public BucketSum {
 public:
  /// `channels` and `values` must outlive it; `values` has at most OrderedSum's kMostElements, as many on all
  /// ranks.
  PackedSum(const SumChannels& channels, std::span<std::int64_t> values);
  /// Returns the bytes() of a sum of so many values over so many ranks.
  static std::size_t predict_bytes(std::size_t values, int ranks);

  void start() override;
  bool combine(bool wait) override;
  bool finish(bool wait) override;
  std::size_t bytes() const override { return outgoing_.size() + incoming_.size(); }

 private:
  std::span<std::int64_t> slice(int rank) const;
  std::span<std::byte> place(AlignedBuffer<std::byte>& messages, int rank, std::size_t numbers) const;
  std::span<const std::byte> packed(int rank);
  template <class MessageTo, class NumbersFrom>
  void exchange(const mpi::Communicator& channel, const MessageTo& message_to,
                const NumbersFrom& numbers_from);
  bool over(bool wait);

  const SumChannels& channels_;
  std::span<std::int64_t> values_;
  int ranks_, me_;
  std::size_t slice_;                             ///< numbers; the last slices may be shorter or empty
  AlignedBuffer<std::byte> outgoing_, incoming_;  ///< a message for each rank
  std::vector<mpi::Request> requests_;            ///< of the current phase
};

}  // namespace convoke::sync
