#include "convoke/explore/neighbors.hpp"

#include "points.hpp"
#include "support/catch.hpp"

using namespace convoke::explore;

TEST_CASE("nearest neighbors and trustworthiness equal scikit-learn's") {
  const Matrix points = heaps(150, 6);
  const Neighbors near = nearest_neighbors(points, 3);
  const std::vector<std::int32_t> index{15, 30, 45, 92, 62, 107, 134, 119, 104};
  const std::vector<double> distance{0.121447570809, 0.246851414057, 0.375886872755,
                                     0.136119734176, 0.138869579789, 0.269047617997,
                                     0.132084124796, 0.260541262555, 0.384993755319};
  const std::vector<std::int64_t> asked{0, 77, 149};
  for (std::size_t i = 0; i < index.size(); ++i) {
    const auto rank = static_cast<std::int64_t>(i % 3);
    CHECK(near.of(asked[i / 3], rank) == index[i]);
    CHECK_THAT(near.distance_of(asked[i / 3], rank), WithinAbs(distance[i], 1e-9));
  }
  const Matrix plane = first_columns(points, 2);
  CHECK_THAT(trustworthiness(points, plane, 5), WithinAbs(0.99896713615, 1e-9));
  CHECK_THAT(trustworthiness(points, plane, 12), WithinAbs(0.919860583016, 1e-9));
  CHECK(trustworthiness(points, points, 12) == 1);
  CHECK(std::isnan(trustworthiness(points, plane, 75)));
}

TEST_CASE("equal points are neighbors at distance 0, lower numbers first; a single point has none") {
  Matrix points(300, 2);
  for (std::int64_t i = 0; i < 300; ++i) points(i, 0) = 1e6 + 3 * static_cast<double>(i / 3);
  const Neighbors near = nearest_neighbors(points, 4);
  CHECK(near.of(4, 0) == 3);
  CHECK(near.of(4, 1) == 5);
  CHECK(near.distance_of(4, 1) == 0);
  CHECK(near.of(4, 2) == 0);  // six points have the same distance
  CHECK(near.distance_of(4, 2) == 3);
  CHECK(nearest_neighbors(Matrix(1, 2), 4).k == 0);
}
