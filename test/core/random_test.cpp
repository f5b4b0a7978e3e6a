#include "convoke/core/random.hpp"

#include <numbers>

#include "support/catch.hpp"

using namespace convoke;

// Source: Random123 1.14, tests/kat_vectors, "philox4x32 10".
TEST_CASE("philox gives the published vectors") {
  CHECK(philox4x32({0, 0, 0, 0}, {0, 0}) == PhiloxCounter{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
  CHECK(philox4x32({0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}, {0xffffffff, 0xffffffff}) ==
        PhiloxCounter{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
  CHECK(philox4x32({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}) ==
        PhiloxCounter{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
  static_assert(philox4x32({0, 0, 0, 0}, {0, 0})[0] == 0x6627e8d5);
}

TEST_CASE("a random stream depends only on its address") {
  const RandomKey key{.seed = 42, .purpose = Purpose::kDropout, .epoch = 3, .sample = 17};
  RandomStream a(key);
  RandomStream b(key);
  std::vector<std::uint32_t> first;
  for (int i = 0; i < 9; ++i) first.push_back(a.next_word());
  for (const std::uint32_t word : first) CHECK(b.next_word() == word);

  // The words equal Philox's at the documented counters.
  const PhiloxKey philox = philox_key(42, Purpose::kDropout, 3);
  const PhiloxCounter block0 = philox4x32({0, 0, 17, 0}, philox);
  const PhiloxCounter block1 = philox4x32({1, 0, 17, 0}, philox);
  CHECK(std::equal(block0.begin(), block0.end(), first.begin()));
  CHECK(std::equal(block1.begin(), block1.end(), first.begin() + 4));
}

TEST_CASE("random streams at different addresses differ") {
  std::set<std::uint64_t> seen;
  std::size_t count = 0;
  const auto take = [&](const RandomKey& key) {
    RandomStream random(key);
    const std::uint64_t high = random.next_word();
    seen.insert(high << 32 | random.next_word());
    ++count;
  };
  for (std::uint32_t i = 0; i < 50; ++i) {
    for (const Purpose purpose : {Purpose::kWeights, Purpose::kShuffle, Purpose::kAugment}) {
      take({.seed = i, .purpose = purpose, .epoch = 1000, .sample = 1000});
      take({.seed = 1000, .purpose = purpose, .epoch = i, .sample = 1000});
      take({.seed = 1000, .purpose = purpose, .epoch = 1000, .sample = i});
      take({.seed = 1000, .purpose = purpose, .epoch = 1000, .sample = (std::uint64_t{i} + 1) << 32});
      take({.seed = (std::uint64_t{i} + 1) << 32, .purpose = purpose, .epoch = 1000, .sample = 1000});
    }
  }
  CHECK(seen.size() == count);
}

TEST_CASE("uniform numbers are uniform") {
  // Chi-squared over 64 bins, 63 degrees of freedom: mean 63, standard deviation 11.2.
  constexpr int kBins = 64;
  constexpr int kDraws = 64000;
  RandomStream random({.seed = 1, .purpose = Purpose::kBench});
  std::vector<int> bins(kBins);
  for (int i = 0; i < kDraws; ++i) {
    const double u = random.uniform();
    REQUIRE(u >= 0);
    REQUIRE(u < 1);
    ++bins[static_cast<std::size_t>(u * kBins)];
  }
  double chi_squared = 0;
  for (const int n : bins) chi_squared += std::pow(n - kDraws / kBins, 2) / (kDraws / kBins);
  CHECK(chi_squared > 30);
  CHECK(chi_squared < 110);
}

TEST_CASE("whole random numbers below a bound are unbiased") {
  RandomStream random({.seed = 2, .purpose = Purpose::kBench});
  constexpr std::uint64_t kBound = 7;
  std::vector<int> hits(kBound);
  for (int i = 0; i < 70000; ++i) ++hits[random.below(kBound)];
  for (const int n : hits) CHECK(std::abs(n - 10000) < 500);  // 5 standard deviations

  // With a bound of 3 * 2^62 a plain remainder would return the first third twice as often as each of the
  // others.
  constexpr std::uint64_t kLarge = std::uint64_t{3} << 62;
  int low = 0;
  for (int i = 0; i < 30000; ++i) low += random.below(kLarge) < kLarge / 3 ? 1 : 0;
  CHECK(std::abs(low - 10000) < 420);

  for (int i = 0; i < 100; ++i) CHECK(random.below(1) == 0);
}

TEST_CASE("normal numbers have the moments of the standard normal distribution") {
  constexpr int kDraws = 100000;
  RandomStream random({.seed = 3, .purpose = Purpose::kWeights});
  double moment[5] = {};
  for (int i = 0; i < kDraws; ++i) {
    const double x = random.normal();
    for (int k = 1; k <= 4; ++k) moment[k] += std::pow(x, k) / kDraws;
  }
  // Five standard errors: sqrt(1, 2, 15, 96) / sqrt(draws).
  CHECK(std::abs(moment[1]) < 0.016);
  CHECK(std::abs(moment[2] - 1) < 0.023);
  CHECK(std::abs(moment[3]) < 0.062);
  CHECK(std::abs(moment[4] - 3) < 0.16);
}

TEST_CASE("a shuffle is a permutation, the same for the same address") {
  std::vector<std::uint32_t> ids(1000);
  std::iota(ids.begin(), ids.end(), 0U);
  const auto shuffled = [&](const RandomKey& key) {
    std::vector<std::uint32_t> copy = ids;
    shuffle(copy, key);
    return copy;
  };
  const RandomKey key{.seed = 5, .purpose = Purpose::kShuffle, .epoch = 1};
  std::vector<std::uint32_t> order = shuffled(key);
  CHECK(order == shuffled(key));
  CHECK(order != ids);
  CHECK(order != shuffled({.seed = 5, .purpose = Purpose::kShuffle, .epoch = 2}));
  std::sort(order.begin(), order.end());
  CHECK(order == ids);

  std::vector<std::uint32_t> none;
  shuffle(none, key);
  CHECK(none.empty());
}

TEST_CASE("a shuffle puts every value in every place equally often") {
  std::vector<std::vector<int>> at(4, std::vector<int>(4));  // (value, position)
  for (std::uint64_t seed = 0; seed < 8000; ++seed) {
    std::vector<std::uint32_t> values{0, 1, 2, 3};
    shuffle(values, {.seed = seed, .purpose = Purpose::kShuffle});
    for (std::size_t position = 0; position < 4; ++position) ++at[values[position]][position];
  }
  for (const auto& row : at) {
    for (const int n : row) CHECK(std::abs(n - 2000) < 195);  // 5 standard deviations
  }
}

// Compares with Box and Muller's formula in double precision, and with the normal distribution.
namespace {

constexpr RandomKey kKey{.seed = 3, .purpose = Purpose::kWeights, .epoch = 0, .sample = 7};

std::vector<float> draw(const RandomKey& key, std::size_t count) {
  std::vector<float> values(count);
  NormalStream(key).fill(values);
  return values;
}

}  // namespace

TEST_CASE("normal numbers follow Box and Muller's formula for Philox's words") {
  const std::vector<float> values = draw(kKey, 512);
  const PhiloxKey key = philox_key(kKey.seed, kKey.purpose, kKey.epoch);
  double worst = 0;
  for (std::size_t piece = 0; piece < 2; ++piece) {
    for (std::size_t i = 0; i < 64; ++i) {
      const PhiloxCounter words = philox4x32({static_cast<std::uint32_t>(piece * 64 + i), 1, 7, 0}, key);
      for (std::size_t pair = 0; pair < 2; ++pair) {
        const double u = (words[2 * pair] >> 8) * 0x1p-24 + 0x1p-25, v = (words[2 * pair + 1] >> 8) * 0x1p-24;
        const double radius = std::sqrt(-2 * std::log(u)), angle = 2 * std::numbers::pi * v;
        const std::size_t at = piece * 256 + 2 * pair * 64 + i;
        worst = std::max(worst, std::abs(static_cast<double>(values[at]) - radius * std::cos(angle)));
        worst = std::max(worst, std::abs(static_cast<double>(values[at + 64]) - radius * std::sin(angle)));
      }
    }
  }
  CHECK(worst < 2e-6);
}

TEST_CASE("normal numbers are distributed normally") {
  constexpr std::size_t kCount = 1 << 20;
  std::vector<float> values = draw(kKey, kCount);
  double moments[5] = {};
  for (const float value : values) {
    double power = 1;
    for (double& moment : moments) moment += power / kCount, power *= static_cast<double>(value);
  }
  CHECK(std::abs(moments[1]) < 0.004);
  CHECK(std::abs(moments[2] - 1) < 0.006);
  CHECK(std::abs(moments[3]) < 0.02);
  CHECK(std::abs(moments[4] - 3) < 0.06);
  // Kolmogorov-Smirnov: the limit is exceeded by chance once in 10^7.
  std::sort(values.begin(), values.end());
  double distance = 0;
  for (std::size_t i = 0; i < kCount; ++i) {
    const double expected = 0.5 * std::erfc(-static_cast<double>(values[i]) * std::numbers::sqrt2 / 2);
    distance = std::max({distance, std::abs(expected - static_cast<double>(i) / kCount),
                         std::abs(expected - static_cast<double>(i + 1) / kCount)});
  }
  CHECK(distance < 2.9 / std::sqrt(kCount));
  CHECK(values.front() > -6);
  CHECK(values.back() < 6);
  CHECK(values.back() > 4);
}

TEST_CASE("normal numbers have an address and continue") {
  const std::vector<float> values = draw(kKey, 700);
  CHECK(draw(kKey, 700) == values);
  std::vector<float> parts(700);
  NormalStream stream(kKey);
  stream.fill(std::span(parts).first(256));
  stream.fill(std::span(parts).subspan(256));
  CHECK(parts == values);
  RandomKey other = kKey;
  other.sample = 8;
  CHECK(draw(other, 700) != values);
  // The bits of the first implementation, on every machine.
  CHECK(values[0] == 0x1.520d8p-1F);
  CHECK(values[299] == 0x1.d89af6p+0F);
}
