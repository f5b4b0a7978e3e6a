#include "convoke/explore/pca.hpp"

#include "points.hpp"
#include "support/catch.hpp"

using namespace convoke::explore;

namespace {

// Printed by golden.py: NumPy's singular value decomposition of the centered points.
struct Golden {
  std::int64_t n, d;
  std::vector<double> variance;
  double total;
  std::vector<double> components, last_scores;
};

const Golden kByCovariance{
    12,
    5,
    {7.69011028823, 5.40185502222, 4.51640449277},
    19.9680279788,
    {0.060959978021, -0.00976255413057, 0.463365708456, 0.641486255176, 0.608256671369, 0.0344196188801,
     -0.382555464813, 0.781007274488, -0.120507824043, -0.477464247582, -0.0709034889796, 0.916768927205,
     0.353486513165, -0.107234078398, -0.134371004321},
    {-0.248237918772, 2.17569547355, -0.862414862613}};

const Golden kByGram{
    5,
    12,
    {16.5556086623, 13.9159648534, 10.4762660921},
    50.2452259756,
    {0.0611825871985,  0.0104806416939, 0.0628805165437, -0.134161511024, 0.460978630631,  0.147081354929,
     -0.306114657952,  -0.416157239983, 0.479872368053,  0.296839443911,  -0.39103629045,  -0.0431948627829,
     -0.0482773736324, 0.503816560313,  -0.142253226127, -0.279520844853, -0.189880804549, 0.143930149364,
     0.468462050099,   -0.102121987575, 0.302148909581,  -0.422225940726, -0.298732147683, 0.00211671791767,
     -0.0597413061426, -0.021473777383, 0.527156996505,  -0.219727739331, -0.374754913064, 0.567583286673,
     -0.175484057407,  0.211866952498,  -0.178462994403, 0.137832987042,  -0.283093100386, 0.0230674340631},
    {6.26771363347, -0.0338216002892, -2.02806550922}};

}  // namespace

TEST_CASE("principal components equal NumPy's, by covariance and by Gram matrix") {
  for (const Golden& golden : {kByCovariance, kByGram}) {
    CAPTURE(golden.n, golden.d);
    const Pca found = pca(heaps(golden.n, golden.d), 3);
    REQUIRE(found.components.rows == 3);
    REQUIRE(found.components.columns == golden.d);
    CHECK_THAT(found.total_variance, WithinAbs(golden.total, 1e-9));
    for (std::size_t i = 0; i < 3; ++i) {
      CHECK_THAT(found.variance[i], WithinAbs(golden.variance[i], 1e-9));
      CHECK_THAT(found.share(i), WithinAbs(golden.variance[i] / golden.total, 1e-9));
      CHECK_THAT(found.scores(golden.n - 1, static_cast<std::int64_t>(i)),
                 WithinAbs(golden.last_scores[i], 1e-9));
    }
    for (std::size_t i = 0; i < golden.components.size(); ++i) {
      CAPTURE(i);
      CHECK_THAT(found.components.values[i], WithinAbs(golden.components[i], 1e-9));
    }
  }
}

TEST_CASE("the number of principal components is at most that of the directions in which the samples vary") {
  Matrix line(6, 3);  // along (1, 2, 0)
  for (std::int64_t i = 0; i < 6; ++i) {
    line(i, 0) = static_cast<double>(i);
    line(i, 1) = 2 * static_cast<double>(i);
    line(i, 2) = 7;
  }
  const Pca one = pca(line, 3);
  REQUIRE(one.variance.size() == 1);
  CHECK_THAT(one.variance[0],
             WithinAbs(5 * 3.5, 1e-12));  // the variance of 0..5 is 3.5, the squared length 5
  CHECK_THAT(one.share(0), WithinAbs(1, 1e-12));

  for (const std::int64_t n : {1, 4}) {
    const Pca none = pca(Matrix(n, 3), 2);
    CHECK(none.variance.empty());
    CHECK(none.total_variance == 0);
    CHECK(none.scores.rows == n);
    CHECK(none.scores.columns == 0);
  }
  Matrix equal(1000, 3);  // their mean is rounded
  std::ranges::fill(equal.values, 0.1);
  CHECK(pca(equal, 3).variance.empty());
  CHECK(pca(equal, 3).total_variance == 0);
}

namespace {

// Returns the root mean square error of all values, after the samples were made of `components`.
double measured_error(const Matrix& points, const Pca& pca, std::int64_t components) {
  double squares = 0;
  for (std::int64_t i = 0; i < points.rows; ++i) {
    const std::vector<double> sample = reconstruct(pca, i, components);
    for (std::int64_t c = 0; c < points.columns; ++c)
      squares += std::pow(sample[static_cast<std::size_t>(c)] - points(i, c), 2);
  }
  return std::sqrt(squares / static_cast<double>(points.values.size()));
}

}  // namespace

TEST_CASE("the errors of reconstruction equal those measured, and scikit-learn's") {
  for (const auto& [n, d] : {std::pair(40, 6), {5, 12}}) {
    const Matrix points = heaps(n, d);
    const Pca all = pca(points, 12);
    const std::vector<double> errors = reconstruction_errors(all);
    REQUIRE(errors.size() == all.variance.size() + 1);
    for (std::size_t k = 0; k < errors.size(); ++k)
      CHECK(errors[k] == Approx(measured_error(points, all, static_cast<std::int64_t>(k))).margin(1e-6));
  }
  const std::vector<double> golden{1.60414221533, 1.18818855113, 0.820884969883, 0.528596333807,
                                   0.237407736621};  // golden_statistics.py
  const std::vector<double> errors = reconstruction_errors(pca(heaps(40, 6), 5));
  for (std::size_t k = 0; k < golden.size(); ++k) CHECK(errors[k + 1] == Approx(golden[k]).epsilon(1e-9));
}

TEST_CASE("samples that are all equal are made of their mean") {
  const Pca none = pca(Matrix(4, 3), 3);
  CHECK(reconstruction_errors(none) == std::vector<double>{0});
  CHECK(reconstruct(none, 2, 3) == std::vector<double>(3, 0.0));
}
