#include "convoke/explore/tsne.hpp"

#include "convoke/explore/neighbors.hpp"
#include "convoke/explore/pca.hpp"
#include "points.hpp"
#include "support/catch.hpp"

using namespace convoke::explore;

namespace {

double entropy_of(const Matrix& p, std::int64_t i) {
  double entropy = 0;
  for (const double chance : p.row(i)) entropy -= chance > 0 ? chance * std::log(chance) : 0;
  return entropy;
}

}  // namespace

TEST_CASE("the perplexity sets the width of every point's Gaussian") {
  const Matrix points = heaps(150, 6);
  for (const double perplexity : {2.0, 15.0, 49.0}) {
    const Matrix p = neighbor_probabilities(points, perplexity);
    for (std::int64_t i = 0; i < p.rows; ++i) {
      double sum = 0;
      for (const double chance : p.row(i)) sum += chance;
      CHECK_THAT(sum, WithinAbs(1, 1e-12));
      CHECK(p(i, i) == 0);
      CHECK_THAT(entropy_of(p, i), WithinAbs(std::log(perplexity), 2e-5));
    }
  }
}

TEST_CASE("t-SNE keeps neighbors together as well as scikit-learn's") {
  const Matrix points = heaps(150, 6);
  TsneOptions options;
  options.perplexity = 15;
  const Matrix map = tsne(pca(points, 6).scores, options);
  REQUIRE(map.rows == 150);
  REQUIRE(map.columns == 2);
  CHECK(trustworthiness(points, map, 12) > 0.9986 - 0.002);  // scikit-learn's: 0.99865 (golden.py)
  const Neighbors near = nearest_neighbors(map, 1);
  int wrong = 0;
  for (std::int32_t i = 0; i < 150; ++i) wrong += near.of(i, 0) % 5 != i % 5 ? 1 : 0;
  CHECK(wrong == 0);

  const Matrix again = tsne(pca(points, 6).scores, options);
  CHECK(again.values == map.values);
  options.seed = 1;
  CHECK(tsne(pca(points, 6).scores, options).values != map.values);
}

TEST_CASE("t-SNE of equal points, of one column, and of one, two or three points is finite") {
  TsneOptions options;
  options.iterations = 300;
  for (const Matrix& points :
       {Matrix(40, 3), heaps(40, 1), Matrix(40, 0), heaps(1, 2), heaps(2, 2), heaps(3, 2)}) {
    const Matrix map = tsne(points, options);
    CAPTURE(points.rows, points.columns);
    CHECK(map.rows == points.rows);
    for (const double value : map.values) CHECK(std::isfinite(value));
  }
}
