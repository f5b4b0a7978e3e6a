#include "convoke/explore/correlation.hpp"

#include "points.hpp"
#include "support/catch.hpp"

using namespace convoke::explore;

// The expected numbers come from golden_statistics.py.

TEST_CASE("correlations equal NumPy's, correlation ratios scikit-learn's") {
  const Matrix points = heaps(30, 4);
  const std::vector<double> golden{1, -0.319382760714, 0.235519830276,  -0.188683957262, -0.319382760714,
                                   1, 0.0363729301446, 0.183752825037,  0.235519830276,  0.0363729301446,
                                   1, 0.111704266314,  -0.188683957262, 0.183752825037,  0.111704266314,
                                   1};
  const Matrix found = correlations(points);
  for (std::size_t i = 0; i < golden.size(); ++i) CHECK_THAT(found.values[i], WithinAbs(golden[i], 1e-9));

  std::vector<std::int32_t> labels;
  for (std::int32_t i = 0; i < 30; ++i) labels.push_back(i % 5);
  const std::vector<double> ratios = correlation_ratios(points, labels);
  const std::vector<double> explained{9.84843747902e-05, 0.885957996947, 0.915453415222, 0.896763113095};
  for (std::size_t i = 0; i < ratios.size(); ++i) CHECK_THAT(ratios[i], WithinAbs(explained[i], 1e-9));
}

TEST_CASE("rank correlations equal scipy's, with ties") {
  Matrix points = heaps(30, 4);
  for (double& value : points.values) value = std::nearbyint(value);
  const std::vector<double> golden{1, -0.262740185915, 0.319321612383,  -0.220502434294, -0.262740185915,
                                   1, 0.0300463376709, 0.158920103965,  0.319321612383,  0.0300463376709,
                                   1, 0.0936960537306, -0.220502434294, 0.158920103965,  0.0936960537306,
                                   1};
  const Matrix found = rank_correlations(points);
  for (std::size_t i = 0; i < golden.size(); ++i) CHECK_THAT(found.values[i], WithinAbs(golden[i], 1e-9));
}

TEST_CASE("a curved relation has rank correlation 1") {
  Matrix curve(6, 2);
  for (std::int64_t i = 0; i < 6; ++i) {
    curve(i, 0) = static_cast<double>(i);
    curve(i, 1) = std::exp(3.0 * static_cast<double>(i));
  }
  CHECK_THAT(rank_correlations(curve)(0, 1), WithinAbs(1, 1e-12));
  CHECK(correlations(curve)(0, 1) < 0.8);
}

TEST_CASE("the correlations of a constant column are 0") {
  Matrix points = heaps(30, 3);
  for (std::int64_t i = 0; i < 30; ++i) points(i, 1) = 0.1;
  const Matrix found = correlations(points);
  for (std::int64_t c = 0; c < 3; ++c) {
    CHECK(found(1, c) == 0);
    CHECK(found(c, 1) == 0);
  }
  const std::vector<std::int32_t> labels(30, 0);
  for (const double ratio : correlation_ratios(points, labels)) CHECK_THAT(ratio, WithinAbs(0, 1e-12));
  CHECK(correlations(Matrix(1, 2)).values == std::vector<double>(4, 0.0));
}
