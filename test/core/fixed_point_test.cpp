#include "convoke/core/fixed_point.hpp"

#include "convoke/core/random.hpp"
#include "support/catch.hpp"

using namespace convoke;

namespace {

// Returns values of all magnitudes that gradients have, 2^-44 (below the resolution) to 2^21.
std::vector<float> some_values(std::size_t n, std::uint64_t seed) {
  RandomStream random({.seed = seed, .purpose = Purpose::kBench});
  std::vector<float> values(n);
  for (float& value : values) {
    const int exponent = static_cast<int>(random.below(65)) - 44;
    value = static_cast<float>(std::ldexp(2 * random.uniform() - 1, exponent));
  }
  return values;
}

}  // namespace

TEST_CASE("fixed point is llrint of the value times 2^40") {
  for (const std::size_t n : {0U, 1U, 7U, 8U, 33U, 1001U}) {  // whole vectors and remainders
    std::vector<float> values = some_values(n, n);
    std::fill(values.begin() + n / 4, values.begin() + n / 2, n == 1001 ? -0.0F : 0.0F);  // zeros are skipped
    std::vector<std::int64_t> sum(n, 99);
    CHECK(fixed_point_assign(values, sum));
    std::vector<std::int64_t> expected(n);
    std::transform(values.begin(), values.end(), expected.begin(),
                   [](float v) { return std::llrint(static_cast<double>(v) * 0x1p40); });
    CHECK(sum == expected);

    CHECK(fixed_point_add(values, sum));
    for (std::int64_t& value : expected) value *= 2;
    CHECK(sum == expected);
  }
}

TEST_CASE("fixed point rounds ties to even and keeps the extremes") {
  const float below_limit = std::nextafter(kFixedPointTermLimit, 0.0F);
  const std::vector<float> values{0x1p-41F,    0x3p-41F,     -0x1p-41F, -0x3p-41F, 0x5p-41F, 0x1p-60F,
                                  below_limit, -below_limit, 0x1p11F,   -0x1p-8F,  -0.0F,    4194303.0F};
  std::vector<std::int64_t> sum(values.size());
  CHECK(fixed_point_assign(values, sum));
  const std::int64_t extreme = (std::int64_t{1} << 62) - (std::int64_t{1} << 38);
  const std::vector<std::int64_t> expected{0,
                                           2,
                                           0,
                                           -2,
                                           2,
                                           0,
                                           extreme,
                                           -extreme,
                                           std::int64_t{1} << 51,
                                           -(std::int64_t{1} << 32),
                                           0,
                                           std::int64_t{4194303} << 40};
  CHECK(sum == expected);
  // Adding uses a separate conversion if the processor has one.
  std::fill(sum.begin(), sum.end(), 0);
  CHECK(fixed_point_add(values, sum));
  CHECK(sum == expected);
}

TEST_CASE("fixed point converts back to the same float") {
  std::vector<float> values = some_values(1003, 3);
  for (float& value : values) {  // multiples of 2^-40 are exact
    value = static_cast<float>(std::ldexp(std::rint(std::ldexp(static_cast<double>(value), 16)), -16));
  }
  std::vector<std::int64_t> sum(values.size());
  std::vector<float> back(values.size());
  REQUIRE(fixed_point_assign(values, sum));
  fixed_point_to_float(sum, back);
  CHECK(back == values);
}

TEST_CASE("a fixed-point sum does not depend on the order of its terms") {
  constexpr std::size_t kTerms = 24;
  constexpr std::size_t kSize = 501;
  std::vector<std::vector<float>> terms;
  for (std::size_t i = 0; i < kTerms; ++i) terms.push_back(some_values(kSize, 100 + i));

  const auto sum_in = [&](const std::vector<std::uint32_t>& order) {
    std::vector<std::int64_t> sum(kSize);
    bool good = fixed_point_assign(terms[order[0]], sum, fixed_point_limit(2));
    for (std::size_t i = 1; i < kTerms; ++i) good &= fixed_point_add(terms[order[i]], sum);
    CHECK(good);
    return sum;
  };
  std::vector<std::uint32_t> order(kTerms);
  std::iota(order.begin(), order.end(), 0U);
  const std::vector<std::int64_t> reference = sum_in(order);
  for (std::uint64_t trial = 0; trial < 10; ++trial) {
    shuffle(order, {.seed = trial, .purpose = Purpose::kBench});
    CHECK(sum_in(order) == reference);
  }
}

TEST_CASE("fixed point reports values that are not finite or too large, and counts them as zero") {
  const float inf = std::numeric_limits<float>::infinity();
  for (const float bad : {std::nanf(""), inf, -inf, kFixedPointTermLimit, -kFixedPointTermLimit, 1e30F}) {
    for (const std::size_t position : {0U, 5U, 64U, 132U}) {
      std::vector<float> values(133, 1.0F);
      values[position] = bad;
      std::vector<std::int64_t> sum(values.size());
      CHECK_FALSE(fixed_point_assign(values, sum));
      CHECK(sum[position] == 0);
      CHECK_FALSE(fixed_point_add(values, sum));
      CHECK(sum[position] == 0);
      CHECK(sum[position == 0 ? 1 : 0] == std::int64_t{2} << 40);
    }
  }
}

TEST_CASE("terms below the limit for their number cannot wrap") {
  CHECK(fixed_point_limit(1) == kFixedPointTermLimit);
  CHECK(fixed_point_limit(2) == kFixedPointTermLimit);
  CHECK(fixed_point_limit(4) == kFixedPointTermLimit / 2);
  for (const std::int64_t terms : {1, 2, 3, 16, 1000}) {
    const float limit = fixed_point_limit(terms);
    const std::vector<float> largest{std::nextafter(limit, 0.0F)};
    std::vector<std::int64_t> sum(1);
    for (std::int64_t i = 0; i < terms; ++i) REQUIRE(fixed_point_add(largest, sum, limit));
    CHECK(static_cast<double>(sum[0]) == Approx(static_cast<double>(terms) * largest[0] * 0x1p40));
    CHECK_FALSE(fixed_point_add(std::vector<float>{limit}, sum, limit));
  }
}

namespace {

// Returns values of all magnitudes from 2^-60 to 2^39, of both signs.
std::vector<double> some_doubles(std::size_t n) {
  RandomStream random({.seed = 3, .purpose = Purpose::kBench});
  std::vector<double> values(n);
  for (double& value : values) {
    const int exponent = static_cast<int>(random.below(100)) - 60;
    value = std::ldexp(2 * static_cast<double>(random.uniform()) - 1, exponent);
  }
  return values;
}

std::vector<double> sum_of(const std::vector<double>& values) {
  std::vector<std::int64_t> sum(2);
  for (const double value : values) REQUIRE(wide_fixed_point_add(std::span(&value, 1), sum));
  std::vector<double> result(1);
  wide_fixed_point_to_double(sum, result);
  return result;
}

}  // namespace

TEST_CASE("wide fixed point keeps a value of any size to 2^-53") {
  for (const double value : some_doubles(1000)) CHECK(std::fabs(sum_of({value})[0] - value) <= 0x1p-53);
  CHECK(sum_of({0.0})[0] == 0);
}

TEST_CASE("wide fixed point: a sum equals that of long doubles, in any order") {
  std::vector<double> values = some_doubles(3000);
  long double expected = 0;
  for (const double value : values) expected += static_cast<long double>(value);
  const double sum = sum_of(values)[0];
  CHECK(std::fabs(sum - static_cast<double>(expected)) < 3000 * 0x1p-53 + std::fabs(sum) * 0x1p-52);
  std::reverse(values.begin(), values.end());
  CHECK(sum_of(values)[0] == sum);
}

TEST_CASE("wide fixed point: the largest allowed number of the largest terms does not wrap") {
  const double largest = std::nextafter(kWideFixedPointTermLimit, 0);
  std::vector<std::int64_t> sum(4);
  const std::vector<double> terms{largest, -largest};
  for (std::int64_t i = 0; i < kWideFixedPointTerms; ++i) wide_fixed_point_add(terms, sum);
  std::vector<double> result(2);
  wide_fixed_point_to_double(sum, result);
  CHECK(result[0] == Approx(largest * static_cast<double>(kWideFixedPointTerms)));
  CHECK(result[1] == -result[0]);
}

TEST_CASE("wide fixed point reports values that are not finite or too large, and continues") {
  for (const double bad : {std::nan(""), std::numeric_limits<double>::infinity(), kWideFixedPointTermLimit}) {
    std::vector<std::int64_t> sum(6);
    const std::vector<double> values{1.5, bad, -2};
    CHECK(!wide_fixed_point_add(values, sum));
    std::vector<double> result(3);
    wide_fixed_point_to_double(sum, result);
    CHECK(result == std::vector<double>{1.5, 0, -2});
  }
}

TEST_CASE("an exact sum equals that of long doubles, for any order, partition and number of terms") {
  std::vector<double> values = some_doubles(3000);
  long double expected = 0;
  ExactSum whole, parts[3];
  for (std::size_t i = 0; i < values.size(); ++i) {
    expected += static_cast<long double>(values[i]);
    whole.add(values[values.size() - 1 - i]);
    parts[i % 3].add(values[i]);
  }
  CHECK(std::fabs(whole.value() - static_cast<double>(expected)) <
        3000 * 0x1p-53 + std::fabs(whole.value()) * 0x1p-52);
  for (std::size_t i = 0; i < ExactSum::kParts; ++i) {
    parts[0].parts()[i] += parts[1].parts()[i] + parts[2].parts()[i];
  }
  CHECK(parts[0].value() == whole.value());
}

TEST_CASE("an exact sum of many of the largest terms, on one rank or many, does not wrap") {
  for (const double sign : {1.0, -1.0}) {
    const double largest = sign * std::nextafter(kWideFixedPointTermLimit, 0);
    const std::int64_t terms = 4 * kWideFixedPointTerms;
    ExactSum sum;
    for (std::int64_t i = 0; i < terms; ++i) sum.add(largest);
    CHECK(sum.value() == Approx(largest * static_cast<double>(terms)));
    for (std::int64_t& part : sum.parts()) part *= 65536;
    CHECK(sum.value() == Approx(largest * static_cast<double>(terms) * 65536));
  }
}

TEST_CASE("an exact sum with a term that is not finite is infinite") {
  for (const double bad : {std::nan(""), -std::numeric_limits<double>::infinity(), 1e300}) {
    ExactSum sum;
    for (const double value : {1.5, bad, -2.0, bad}) sum.add(value);
    CHECK(sum.value() == std::numeric_limits<double>::infinity());
  }
  ExactSum sum;
  CHECK(sum.value() == 0);
  sum.add(-0.25);
  CHECK(sum.value() == -0.25);
}
