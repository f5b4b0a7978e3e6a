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

namespace {

std::vector<std::int32_t> labels_of_heaps(std::int64_t n) {
  std::vector<std::int32_t> labels;
  for (std::int64_t i = 0; i < n; ++i) labels.push_back(static_cast<std::int32_t>(i % 5));
  return labels;
}

}  // namespace

TEST_CASE("a sample far from its class, and one with a wrong label, are found first") {
  Matrix points = heaps(150, 6);
  std::vector<std::int32_t> labels = labels_of_heaps(150);
  for (std::int64_t c = 0; c < 6; ++c) points(42, c) += 40;
  labels[63] = 0;  // its point belongs to heap 3
  labels[149] = 1;

  const auto far = far_from_their_class(points, labels, 5, 3);
  REQUIRE(far.size() == 3);
  CHECK(far[0].point == 42);
  CHECK(far[0].score > 2 * far[2].score);

  const Neighbors near = nearest_neighbors(heaps(150, 6), 10);
  const auto suspects = suspect_labels(near, labels, 10);
  REQUIRE(suspects.size() == 2);
  CHECK(suspects[0].score == 1);
  CHECK(std::set<std::int64_t>{suspects[0].point, suspects[1].point} == std::set<std::int64_t>{63, 149});
  CHECK(suspects[0].majority == (suspects[0].point == 63 ? 3 : 4));
  CHECK_THAT(neighbor_accuracy(near, labels), WithinAbs(148.0 / 150, 1e-12));
}

TEST_CASE("a sample with a suspect label is named after the most frequent other label of its neighbors") {
  Matrix points(11, 1);  // the last point has 4 neighbors with its label, 3 of each of two others
  for (std::int64_t i = 0; i < 11; ++i) points(i, 0) = static_cast<double>(i);
  const std::vector<std::int32_t> labels{1, 2, 0, 1, 2, 0, 1, 2, 0, 0, 0};
  const auto suspects = suspect_labels(nearest_neighbors(points, 10), labels, 11);
  const auto last = std::ranges::find(suspects, 10, &Atypical::point);
  REQUIRE(last != suspects.end());
  CHECK(last->majority == 2);  // of two equally frequent ones, that of the nearer neighbor
  CHECK_THAT(last->score, WithinAbs(0.6, 1e-12));
}

TEST_CASE("small classes, equal points and a single point have no atypical samples") {
  const std::vector<std::int32_t> labels = labels_of_heaps(20);  // four points in each heap
  CHECK(far_from_their_class(heaps(20, 3), labels, 5, 3).empty());
  CHECK(far_from_their_class(Matrix(100, 3), labels_of_heaps(100), 5, 3).empty());
  const Neighbors alone = nearest_neighbors(Matrix(1, 3), 10);
  const std::vector<std::int32_t> one{0};
  CHECK(suspect_labels(alone, one, 3).empty());
  CHECK(neighbor_accuracy(alone, one) == 0);
}
