#include "convoke/optim/norm.hpp"

#include <cmath>
#include <vector>

#include "convoke/core/random.hpp"
#include "support/catch.hpp"

using namespace convoke;
using namespace convoke::optim;

TEST_CASE("norms are those of a plain loop, and padding with zeros changes no bit") {
  RandomStream random({.seed = 1, .purpose = Purpose::kBench});
  for (const std::size_t n : {0, 1, 15, 16, 17, 1000, 40961}) {
    std::vector<float> values(n);
    long double squares = 0;
    long double magnitudes = 0;
    for (float& value : values) {
      value = static_cast<float>(random.normal());
      squares += static_cast<long double>(value) * static_cast<long double>(value);
      magnitudes += std::abs(static_cast<long double>(value));
    }
    const double sum = sum_of_squares(values);
    CHECK(sum == Catch::Approx(static_cast<double>(squares)).epsilon(1e-13));
    CHECK(sum_of_magnitudes(values) == Catch::Approx(static_cast<double>(magnitudes)).epsilon(1e-13));
    values.resize((n + 15) / 16 * 16 + 32);
    CHECK(sum_of_squares(values) == sum);
  }
}
