#include "convoke/engine/state_array.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "convoke/core/finite.hpp"
#include "convoke/core/multiversion.hpp"

namespace convoke::engine {
namespace {

// A block of elements shares one call of the generator: eight elements for each of its counters.
constexpr int kCounters = 16;
constexpr std::size_t kBlock = std::size_t{kCounters} * 8;

//   out = upper half of (in + u 2^-16 ulp(bf16)), u uniform in {0, ..., 2^16 - 1}
// Elements `first` to `first + count` of block `block`. NaN stays NaN.
CONVOKE_MULTIVERSION
void round_block(std::uint64_t block, std::uint32_t array, const PhiloxKey& key, std::size_t first,
                 std::size_t count, const float* in, sync::Bfloat16* out) {
  std::uint32_t words[4][kCounters];
  for (std::uint32_t i = 0; i < kCounters; ++i) {
    const std::uint64_t counter = block * kCounters + i;
    words[0][i] = static_cast<std::uint32_t>(counter);
    words[1][i] = static_cast<std::uint32_t>(counter >> 32);
    words[2][i] = array;
    words[3][i] = 0;
  }
  philox4x32(words, key);
  std::uint16_t random[kBlock];
  static_assert(sizeof random == sizeof words);
  std::memcpy(random, words, sizeof random);
  for (std::size_t i = 0; i < count; ++i) {
    const auto whole = std::bit_cast<std::uint32_t>(in[i]);
    const std::uint32_t sum = (whole + random[first + i]) >> 16;
    const std::uint32_t quiet_nan = (whole >> 16) | 0x40U;
    out[i].bits = static_cast<std::uint16_t>((whole & 0x7FFFFFFFU) > 0x7F800000U ? quiet_nan : sum);
  }
}

CONVOKE_MULTIVERSION
void widen(const sync::Bfloat16* in, std::size_t n, float* out) {
  for (std::size_t i = 0; i < n; ++i) out[i] = static_cast<float>(in[i]);
}

}  // namespace

void StateArray::read(std::size_t first, std::span<float> values) const {
  if (halves_.empty()) {
    std::ranges::copy(floats_.subspan(first, values.size()), values.begin());
  } else {
    widen(halves_.subspan(first, values.size()).data(), values.size(), values.data());
  }
}

void StateArray::write(std::size_t first, std::span<const float> values) const {
  if (halves_.empty()) {
    std::ranges::copy(values, floats_.subspan(first, values.size()).begin());
  } else {
    std::ranges::transform(values, halves_.subspan(first, values.size()).begin(),
                           [](float value) { return sync::Bfloat16(value); });
  }
}

void StateArray::write(std::size_t first, std::span<const float> values,
                       const StochasticRounding& rounding) const {
  if (halves_.empty()) return write(first, values);
  const std::span<sync::Bfloat16> out = halves_.subspan(first, values.size());
  for (std::size_t i = 0; i < values.size();) {
    const std::size_t within = (first + i) % kBlock;
    const std::size_t count = std::min(kBlock - within, values.size() - i);
    round_block((first + i) / kBlock, rounding.array, rounding.key, within, count, &values[i], &out[i]);
    i += count;
  }
}

void StateArray::set_to_zero() const {
  std::ranges::fill(floats_, 0.0F);
  std::ranges::fill(halves_, sync::Bfloat16());
}

bool StateArray::finite(std::size_t first, std::size_t count) const {
  if (halves_.empty()) return all_finite(floats_.subspan(first, count));
  return std::ranges::all_of(halves_.subspan(first, count),
                             [](sync::Bfloat16 value) { return std::isfinite(static_cast<float>(value)); });
}

}  // namespace convoke::engine
