#include "convoke/sync/packed_sum.hpp"

#include <algorithm>

#include "convoke/sync/bucket.hpp"
#include "convoke/sync/packed_integers.hpp"

namespace convoke::sync {

constexpr mpi::Tag kTag = mpi::Tag::kPackedSum;

PackedSum::PackedSum(const SumChannels& channels, std::span<std::int64_t> values)
    : channels_(channels),
      values_(values),
      ranks_(channels.scatter.size()),
      me_(channels.scatter.rank()),
      slice_(slice_elements(values.size(), ranks_)),
      outgoing_(most_packed_bytes(slice_) * static_cast<std::size_t>(ranks_)),
      incoming_(outgoing_.size()) {
  requests_.reserve(2 * static_cast<std::size_t>(ranks_));
}

std::size_t PackedSum::predict_bytes(std::size_t values, int ranks) {
  return 2 * most_packed_bytes(slice_elements(values, ranks)) * static_cast<std::size_t>(ranks);
}

std::span<std::int64_t> PackedSum::slice(int rank) const {
  const std::size_t begin = std::min(slice_ * static_cast<std::size_t>(rank), values_.size());
  return values_.subspan(begin, std::min(slice_, values_.size() - begin));
}

// The place of the message to or from a rank, as long as so many numbers may become.
std::span<std::byte> PackedSum::place(AlignedBuffer<std::byte>& messages, int rank,
                                      std::size_t numbers) const {
  return messages.span().subspan(most_packed_bytes(slice_) * static_cast<std::size_t>(rank),
                                 most_packed_bytes(numbers));
}

bool PackedSum::over(bool wait) {
  while (!requests_.empty() && requests_.back().over(wait)) requests_.pop_back();
  return requests_.empty();
}

// Packs the slice of a rank, and returns its message.
std::span<const std::byte> PackedSum::packed(int rank) {
  const std::span<std::int64_t> numbers = slice(rank);
  std::byte* const message = place(outgoing_, rank, numbers.size()).data();
  return {message, pack(numbers, message)};
}

// Sends every other rank its message, and receives one from it that holds at most so many numbers.
template <class MessageTo, class NumbersFrom>
void PackedSum::exchange(const mpi::Communicator& channel, const MessageTo& message_to,
                         const NumbersFrom& numbers_from) {
  for (int rank = 0; rank < ranks_; ++rank) {
    if (rank == me_) continue;
    requests_.push_back(channel.start_receive(place(incoming_, rank, numbers_from(rank)), rank, kTag));
    requests_.push_back(channel.start_send(message_to(rank), rank, kTag));
  }
}

void PackedSum::start() {
  exchange(
      channels_.scatter, [&](int rank) { return packed(rank); }, [&](int) { return slice(me_).size(); });
}

bool PackedSum::combine(bool wait) {
  if (!over(wait)) return false;
  for (int rank = 0; rank < ranks_; ++rank)
    if (rank != me_) unpack_and_add(place(incoming_, rank, slice_).data(), slice(me_));
  const std::span<const std::byte> sum = packed(me_);
  exchange(
      channels_.gather, [&](int) { return sum; }, [&](int rank) { return slice(rank).size(); });
  return true;
}

bool PackedSum::finish(bool wait) {
  if (!over(wait)) return false;
  for (int rank = 0; rank < ranks_; ++rank)
    if (rank != me_) unpack(place(incoming_, rank, slice_).data(), slice(rank));
  return true;
}

}  // namespace convoke::sync
