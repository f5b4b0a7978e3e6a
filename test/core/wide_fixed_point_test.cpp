#include "convoke/core/fixed_point.hpp"

#include "convoke/core/random.hpp"
#include "support/catch.hpp"

using namespace convoke;

namespace {

// Returns values of all magnitudes from 2^-60 to 2^39, of both signs.
std::vector<double> some_values(std::size_t n) {
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
  for (const double value : some_values(1000)) CHECK(std::fabs(sum_of({value})[0] - value) <= 0x1p-53);
  CHECK(sum_of({0.0})[0] == 0);
}

TEST_CASE("wide fixed point: a sum equals that of long doubles, in any order") {
  std::vector<double> values = some_values(3000);
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
  std::vector<double> values = some_values(3000);
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
