#include "convoke/data_prep/table/yeo_johnson.hpp"

#include "support/catch.hpp"

using namespace convoke::data_prep;

TEST_CASE("Yeo-Johnson follows its definition") {
  CHECK(yeo_johnson(3, 0.5) == Approx((std::sqrt(4.0) - 1) / 0.5));
  CHECK(yeo_johnson(3, 2) == Approx(7.5));
  CHECK(yeo_johnson(3, 0) == Approx(std::log(4.0)));
  CHECK(yeo_johnson(-3, 0) == Approx(-7.5));
  CHECK(yeo_johnson(-3, 2) == Approx(-std::log(4.0)));
  CHECK(yeo_johnson(-3, 1.5) == Approx(-(std::sqrt(4.0) - 1) / 0.5));
  for (const double x : {-5.0, -0.1, 0.0, 0.1, 5.0}) CHECK(yeo_johnson(x, 1) == Approx(x));
  CHECK(yeo_johnson(0, -3) == 0);
}

TEST_CASE("the most likely lambda of transformed normal numbers is found") {
  // Evenly spaced quantiles of a logistic distribution (symmetric), then e^x - 1: lambda 0.
  std::vector<double> values;
  for (int i = 1; i < 400; ++i) {
    const double p = i / 400.0;
    values.push_back(std::expm1(4 + 0.5 * std::log(p / (1 - p))));
  }
  const double lambda = yeo_johnson_lambda(values);
  CHECK(std::abs(lambda) < 0.02);
  for (double& value : values) value = -value;
  CHECK(yeo_johnson_lambda(values) == Approx(2 - lambda).margin(1e-6));
}

TEST_CASE("lambda is finite for all numbers") {
  const std::vector<std::vector<double>> columns{{3, 3, 3},    {1e15, 2e15, 1e18}, {-1e300, 1e300, 0},
                                                 {0, 0, 0, 1}, {1e-300, 2e-300},   {1e9, 1e9 + 1, 1e9 + 2},
                                                 {5}};
  for (const std::vector<double>& values : columns) CHECK(std::isfinite(yeo_johnson_lambda(values)));
  CHECK(yeo_johnson_lambda(columns[0]) == 1);
}
