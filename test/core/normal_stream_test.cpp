// Compares with Box and Muller's formula in double precision, and with the normal distribution.
#include "convoke/core/normal_stream.hpp"

#include <numbers>

#include "support/catch.hpp"

using namespace convoke;

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
