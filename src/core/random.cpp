#include "convoke/core/random.hpp"

#include <algorithm>
#include <bit>
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

namespace {

// All functions below work on pieces of 64 without branches, so that their loops become vector operations.
// They are compiled in the same way for every processor, without fused multiply-add (CMakeLists.txt), so that
// the bits do not depend on the machine.
constexpr int kPiece = 64;
using Words = std::uint32_t[kPiece];
using Floats = float[kPiece];

// Returns 24 bits of a word as a fraction, uniform in [0, 1).
[[gnu::always_inline]] inline float fraction(std::uint32_t word) {
  return static_cast<float>(static_cast<std::int32_t>(word >> 8)) * 0x1p-24F;
}

// ln x for x in (0, 1]: x = m 2^e with m in [sqrt(1/2), sqrt 2); Cephes's logf, to 2 units in the last place.
[[gnu::always_inline]] inline float logarithm(float x) {
  const auto bits = std::bit_cast<std::uint32_t>(x);
  const std::uint32_t shifted =
      bits + (0x3F800000 - 0x3F3504F3);  // carries into the exponent from sqrt(1/2) on
  const auto e = static_cast<float>(static_cast<std::int32_t>(shifted >> 23) - 127);
  const float m = std::bit_cast<float>((shifted & 0x007FFFFF) + 0x3F3504F3) - 1;
  float p = 7.0376836292e-2F;
  p = p * m - 1.1514610310e-1F;
  p = p * m + 1.1676998740e-1F;
  p = p * m - 1.2420140846e-1F;
  p = p * m + 1.4249322787e-1F;
  p = p * m - 1.6668057665e-1F;
  p = p * m + 2.0000714765e-1F;
  p = p * m - 2.4999993993e-1F;
  p = p * m + 3.3333331174e-1F;
  const float square = m * m;
  return m + (m * square * p - 2.12194440e-4F * e - 0.5F * square) + 0.693359375F * e;
}

//   r = sqrt(-2 ln u),  x = r cos(2 pi v),  y = r sin(2 pi v)
// G. Box, M. Muller, "A note on the generation of random normal deviates", 1958; u in (0, 1], v in [0, 1).
// The angle is reduced to at most an eighth of a turn, where Cephes's polynomials are valid.
void box_muller(const Words& u, const Words& v, Floats& x, Floats& y) {
  for (int i = 0; i < kPiece; ++i) {
    const float radius = std::sqrt(-2 * logarithm(fraction(u[i]) + 0x1p-25F));
    const float turns = fraction(v[i]);
    const auto quarter = static_cast<std::int32_t>(turns * 4 + 0.5F);
    const float angle = (turns - static_cast<float>(quarter) * 0.25F) * 6.28318531F;
    const float square = angle * angle;
    const float sine =
        angle +
        angle * square * (-1.6666654611e-1F + square * (8.3321608736e-3F - square * 1.9515295891e-4F));
    const float cosine =
        1 - 0.5F * square +
        square * square *
            (4.166664568298827e-2F + square * (-1.388731625493765e-3F + square * 2.443315711809948e-5F));
    const bool swapped = (quarter & 1) != 0;
    const float a = swapped ? sine : cosine, b = swapped ? cosine : sine;
    x[i] = radius * (((quarter + 1) & 2) != 0 ? -a : a);
    y[i] = radius * ((quarter & 2) != 0 ? -b : b);
  }
}

}  // namespace

NormalStream::NormalStream(const RandomKey& key)
    : key_(philox_key(key.seed, key.purpose, key.epoch)), sample_(key.sample) {}

void NormalStream::fill(std::span<float> values) {
  Words words[4];
  Floats normals[4];
  for (std::size_t first = 0; first < values.size(); first += 4 * kPiece) {
    for (int i = 0; i < kPiece; ++i) {
      words[0][i] = draw_++;
      words[1][i] = 1;  // distinguishes it from a RandomStream, which has 0 here
      words[2][i] = static_cast<std::uint32_t>(sample_);
      words[3][i] = static_cast<std::uint32_t>(sample_ >> 32);
    }
    philox4x32(words, key_);
    box_muller(words[0], words[1], normals[0], normals[1]);
    box_muller(words[2], words[3], normals[2], normals[3]);
    const std::size_t count = std::min<std::size_t>(4 * kPiece, values.size() - first);
    std::copy_n(&normals[0][0], count, values.begin() + static_cast<std::ptrdiff_t>(first));
  }
}

}  // namespace convoke
