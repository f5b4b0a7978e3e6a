#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace convoke {

/// Philox 4x32-10, a counter-based generator: the same counter and key give the same four words on any rank,
/// in any order. J. Salmon, M. Moraes, R. Dror, D. Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC
/// 2011.
using PhiloxCounter = std::array<std::uint32_t, 4>;
using PhiloxKey = std::array<std::uint32_t, 2>;

constexpr PhiloxCounter philox4x32(PhiloxCounter counter, PhiloxKey key) {
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t a = std::uint64_t{0xD2511F53} * counter[0];
    const std::uint64_t b = std::uint64_t{0xCD9E8D57} * counter[2];
    counter = {static_cast<std::uint32_t>(b >> 32) ^ counter[1] ^ key[0], static_cast<std::uint32_t>(b),
               static_cast<std::uint32_t>(a >> 32) ^ counter[3] ^ key[1], static_cast<std::uint32_t>(a)};
    key[0] += 0x9E3779B9;
    key[1] += 0xBB67AE85;
  }
  return counter;
}

/// Does the same for N counters in parallel, word w of counter i at words[w][i], in place. The loops become
/// vector operations when this function is inlined.
template <int N>
[[gnu::always_inline]] inline void philox4x32(std::uint32_t (&words)[4][N], PhiloxKey key) {
  for (int round = 0; round < 10; ++round) {
    for (int i = 0; i < N; ++i) {
      const std::uint64_t a = std::uint64_t{0xD2511F53} * words[0][i];
      const std::uint64_t b = std::uint64_t{0xCD9E8D57} * words[2][i];
      words[0][i] = static_cast<std::uint32_t>(b >> 32) ^ words[1][i] ^ key[0];
      words[1][i] = static_cast<std::uint32_t>(b);
      words[2][i] = static_cast<std::uint32_t>(a >> 32) ^ words[3][i] ^ key[1];
      words[3][i] = static_cast<std::uint32_t>(a);
    }
    key[0] += 0x9E3779B9;
    key[1] += 0xBB67AE85;
  }
}

/// The purpose of a random number; part of its address.
enum class Purpose : std::uint32_t {
  kWeights = 1,
  kShuffle = 2,
  kShard = 3,
  kDropout = 4,
  kAugment = 5,
  kBench = 6,
  kSplit = 7,
  kOrder = 8,
  kFraction = 9,
  kStudy = 10,
  kRounding = 11,
  kExplore = 16
};

/// The address of a stream of random numbers, which alone decides its values. The purpose defines the meaning
/// of `epoch` and `sample` (for initial weights: 0 and the parameter's position in the graph).
struct RandomKey {
  std::uint64_t seed = 0;
  Purpose purpose = Purpose::kWeights;
  std::uint32_t epoch = 0;
  std::uint64_t sample = 0;
};

/// Returns the Philox key of (seed, purpose, epoch), which is constant in a loop over samples.
PhiloxKey philox_key(std::uint64_t seed, Purpose purpose, std::uint32_t epoch);

/// The numbers at one address, in order. Counter words: (draw / 4, stream, sample low, sample high).
class RandomStream {
 public:
  explicit RandomStream(const RandomKey& key);

  std::uint32_t next_word();
  /// Uniform in [0, 1), 53 bits.
  double uniform();
  /// Uniform in 0..bound-1 without bias, bound > 0.
  std::uint64_t below(std::uint64_t bound);
  /// Standard normal (Box-Muller).
  double normal();

 private:
  PhiloxKey key_;
  std::uint64_t sample_;
  std::uint32_t draw_ = 0;
  unsigned used_ = 4;
  PhiloxCounter words_{};
};

/// Shuffles `values` with the numbers at `key` (Fisher-Yates).
void shuffle(std::span<std::uint32_t> values, const RandomKey& key);

/// Standard normal numbers at one address, many at a time, in single precision; 24 bits per number limit them
/// to 5.9 standard deviations. Ten times as fast as RandomStream::normal(), for the initial weights of large
/// networks; the same bits on every machine. Shares no words of Philox with a RandomStream of the same key.
class NormalStream {
 public:
  explicit NormalStream(const RandomKey& key);

  /// Fills `values`. Uses multiples of 256 numbers; the rest of the last 256 is not used again.
  void fill(std::span<float> values);

 private:
  PhiloxKey key_;
  std::uint64_t sample_;
  std::uint32_t draw_ = 0;
};

}  // namespace convoke
