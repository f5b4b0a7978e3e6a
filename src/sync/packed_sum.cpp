#include "convoke/sync/packed_sum.hpp"

#include <algorithm>
#include <array>
#include <bit>

#include "convoke/core/multiversion.hpp"
#include "convoke/sync/bucket.hpp"

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

namespace {

constexpr std::size_t kBlock = 64;
using Block = std::array<std::uint64_t, kBlock>;

std::size_t blocks_of(std::size_t numbers) { return (numbers + kBlock - 1) / kBlock; }

// The widths of the blocks stand before them, in whole words.
std::size_t width_bytes(std::size_t numbers) { return (blocks_of(numbers) + 7) / 8 * 8; }

// Returns the bits of two's complement that hold each number of a block; 0 if all are 0.
[[gnu::always_inline]] inline int width_of(const std::int64_t* values) {
  std::uint64_t magnitudes = 0, any = 0;
  for (std::size_t i = 0; i < kBlock; ++i) {
    magnitudes |= static_cast<std::uint64_t>(values[i] < 0 ? ~values[i] : values[i]);
    any |= static_cast<std::uint64_t>(values[i]);
  }
  return any == 0 ? 0 : static_cast<int>(std::bit_width(magnitudes)) + 1;
}

// Returns the number that makes numbers of `width` bits positive when it is added; it wraps for 64.
constexpr std::uint64_t offset_of(int width) { return width == 0 ? 0 : std::uint64_t{1} << (width - 1); }

// Moves the lowest bits of each number, as many as T has, to `to`, if the width has so many.
template <class T>
[[gnu::always_inline]] inline void take_low(Block& numbers, int& width, std::byte*& to) {
  constexpr int kBits = 8 * sizeof(T);
  if (width < kBits) return;
  auto* const low = reinterpret_cast<T*>(to);
  for (std::size_t i = 0; i < kBlock; ++i) {
    low[i] = static_cast<T>(numbers[i]);
    numbers[i] >>= kBits;
  }
  width -= kBits;
  to += sizeof(T) * kBlock;
}

template <class T>
[[gnu::always_inline]] inline void put_low(Block& numbers, int width, int& shift, const std::byte*& from) {
  constexpr int kBits = 8 * sizeof(T);
  if (width - shift < kBits) return;
  const auto* const low = reinterpret_cast<const T*>(from);
  for (std::size_t i = 0; i < kBlock; ++i) numbers[i] |= static_cast<std::uint64_t>(low[i]) << shift;
  shift += kBits;
  from += sizeof(T) * kBlock;
}

// A block has the low 32, 16 and 8 bits of its numbers, those of them that its width has, and then a word for
// each bit that is left: bit i of the word belongs to number i. So a block of width w has 8 w bytes.
CONVOKE_MULTIVERSION
int pack_block(const std::int64_t* values, std::byte* to) {
  const int packed = width_of(values);
  Block numbers;
  for (std::size_t i = 0; i < kBlock; ++i)
    numbers[i] = static_cast<std::uint64_t>(values[i]) + offset_of(packed);
  int width = packed;
  take_low<std::uint32_t>(numbers, width, to);
  take_low<std::uint16_t>(numbers, width, to);
  take_low<std::uint8_t>(numbers, width, to);
  auto* const words = reinterpret_cast<std::uint64_t*>(to);
  for (int bit = 0; bit < width; ++bit) {
    std::uint64_t word = 0;
    for (std::size_t i = 0; i < kBlock; ++i) word |= (numbers[i] >> bit & 1) << i;
    words[bit] = word;
  }
  return packed;
}

CONVOKE_MULTIVERSION
void unpack_block(const std::byte* from, int width, std::int64_t* values) {
  Block numbers{};
  int shift = 0;
  put_low<std::uint32_t>(numbers, width, shift, from);
  put_low<std::uint16_t>(numbers, width, shift, from);
  put_low<std::uint8_t>(numbers, width, shift, from);
  for (const auto* word = reinterpret_cast<const std::uint64_t*>(from); shift < width; ++shift, ++word)
    for (std::size_t i = 0; i < kBlock; ++i) numbers[i] |= (*word >> i & 1) << shift;
  for (std::size_t i = 0; i < kBlock; ++i)
    values[i] = static_cast<std::int64_t>(numbers[i] - offset_of(width));
}

// Unpacks each block, and calls take(block, first number, count).
template <class Take>
void for_blocks(const std::byte* from, std::size_t numbers, Take take) {
  const std::byte* block = from + width_bytes(numbers);
  std::array<std::int64_t, kBlock> values;
  for (std::size_t b = 0, at = 0; at < numbers; ++b, at += kBlock) {
    const int width = std::to_integer<int>(from[b]);
    unpack_block(block, width, values.data());
    take(values.data(), at, std::min(kBlock, numbers - at));
    block += 8 * width;
  }
}

}  // namespace

std::size_t most_packed_bytes(std::size_t numbers) {
  return width_bytes(numbers) + blocks_of(numbers) * kBlock * sizeof(std::int64_t);
}

std::size_t pack(std::span<const std::int64_t> values, std::byte* to) {
  std::byte* block = to + width_bytes(values.size());
  std::array<std::int64_t, kBlock> last{};
  for (std::size_t b = 0, at = 0; at < values.size(); ++b, at += kBlock) {
    const std::int64_t* numbers = values.data() + at;
    if (at + kBlock > values.size()) {
      std::copy(numbers, values.data() + values.size(), last.begin());
      numbers = last.data();
    }
    const int width = pack_block(numbers, block);
    to[b] = static_cast<std::byte>(width);
    block += 8 * width;
  }
  std::fill(to + blocks_of(values.size()), to + width_bytes(values.size()), std::byte{0});
  return static_cast<std::size_t>(block - to);
}

void unpack(const std::byte* from, std::span<std::int64_t> values) {
  for_blocks(from, values.size(), [&](const std::int64_t* block, std::size_t at, std::size_t count) {
    std::copy_n(block, count, values.data() + at);
  });
}

void unpack_and_add(const std::byte* from, std::span<std::int64_t> sum) {
  for_blocks(from, sum.size(), [&](const std::int64_t* block, std::size_t at, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) sum[at + i] += block[i];
  });
}

}  // namespace convoke::sync
