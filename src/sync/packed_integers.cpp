#include "convoke/sync/packed_integers.hpp"

#include <algorithm>
#include <array>
#include <bit>

#include "convoke/core/multiversion.hpp"

namespace convoke::sync {
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
