#include "convoke/core/random.hpp"

#include <cassert>
#include <cmath>
#include <numbers>
#include <utility>

namespace convoke {

PhiloxKey philox_key(std::uint64_t seed, Purpose purpose, std::uint32_t epoch) {
  // One Philox call mixes the four words into a key, so that keys of neighboring seeds and epochs are
  // unrelated.
  const PhiloxCounter mixed =
      philox4x32({static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32), epoch,
                  static_cast<std::uint32_t>(purpose)},
                 {0x243F6A88, 0x85A308D3});
  return {mixed[0], mixed[1]};
}

RandomStream::RandomStream(const RandomKey& key)
    : key_(philox_key(key.seed, key.purpose, key.epoch)), sample_(key.sample) {}

std::uint32_t RandomStream::next_word() {
  if (used_ == 4) {
    words_ = philox4x32(
        {draw_++, 0, static_cast<std::uint32_t>(sample_), static_cast<std::uint32_t>(sample_ >> 32)}, key_);
    used_ = 0;
  }
  return words_[used_++];
}

double RandomStream::uniform() {
  const std::uint64_t high = next_word();
  const std::uint64_t low = next_word();
  return static_cast<double>((high << 32 | low) >> 11) * 0x1p-53;
}

std::uint64_t RandomStream::below(std::uint64_t bound) {
  assert(bound > 0);
  // Rejects values from the incomplete last segment of multiples of `bound`.
  const std::uint64_t reject_from = UINT64_MAX - (UINT64_MAX % bound + 1) % bound;
  for (;;) {
    const std::uint64_t high = next_word();
    const std::uint64_t value = high << 32 | next_word();
    if (value <= reject_from) return value % bound;
  }
}

double RandomStream::normal() {
  const double radius = std::sqrt(-2.0 * std::log1p(-uniform()));
  return radius * std::cos(2.0 * std::numbers::pi * uniform());
}

void shuffle(std::span<std::uint32_t> values, const RandomKey& key) {
  RandomStream random(key);
  for (std::size_t i = values.size(); i > 1; --i) {
    std::swap(values[i - 1], values[random.below(i)]);
  }
}

}  // namespace convoke
