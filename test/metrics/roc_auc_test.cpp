#include "convoke/metrics/scores.hpp"

#include "support/catch.hpp"

using namespace convoke::metrics;

namespace {

// For i in 0..499: labels, and scores in whole numbers, many of which are equal. In NumPy:
//   i = np.arange(500); truth = (i * 7 + i // 11) % 5; c = np.arange(classes)
//   s = ((i[:, None] * 13 + c * 29 + i[:, None] // 7 * c) % 8).astype(float); s[i, truth % classes] += 2
struct Scored {
  std::vector<std::int32_t> truth;
  std::vector<std::vector<double>> scores;  // of each class

  explicit Scored(std::int32_t classes) : scores(static_cast<std::size_t>(classes)) {
    for (std::int32_t i = 0; i < 500; ++i) {
      const std::int32_t label = (i * 7 + i / 11) % 5;
      truth.push_back(label % classes);
      for (std::int32_t c = 0; c < classes; ++c) {
        scores[static_cast<std::size_t>(c)].push_back((i * 13 + c * 29 + i / 7 * c) % 8 +
                                                      (c == truth.back() ? 2 : 0));
      }
    }
  }
};

std::vector<RocPairs> pairs_of(const Scored& scored) {
  std::vector<RocPairs> pairs;
  for (std::size_t c = 0; c < scored.scores.size(); ++c) {
    pairs.push_back(roc_pairs(scored.scores[c], scored.truth, static_cast<std::int32_t>(c)));
  }
  return pairs;
}

}  // namespace

TEST_CASE("ROC AUC of two classes equals scikit-learn's, including ties") {
  // roc_auc_score(truth % 2, s[:, 1])
  CHECK(roc_auc(pairs_of(Scored(2))) == Approx(0.7263916666666667).epsilon(1e-14));
}

TEST_CASE("ROC AUC of several classes equals scikit-learn's mean of one versus rest") {
  // p = s / s.sum(1, keepdims=True); roc_auc_score(truth, p, multi_class="ovr")
  Scored scored(5);
  for (std::size_t i = 0; i < scored.truth.size(); ++i) {
    double sum = 0;
    for (const std::vector<double>& scores : scored.scores) sum += scores[i];
    for (std::vector<double>& scores : scored.scores) scores[i] /= sum;
  }
  CHECK(roc_auc(pairs_of(scored)) == Approx(0.7521575).epsilon(1e-14));
}

TEST_CASE("pairs equal those of a loop over all pairs") {
  const Scored scored(3);
  for (std::int32_t positive = 0; positive < 3; ++positive) {
    const std::vector<double>& scores = scored.scores[static_cast<std::size_t>(positive)];
    std::int64_t twice = 0;
    for (std::size_t p = 0; p < scores.size(); ++p) {
      for (std::size_t n = 0; n < scores.size(); ++n) {
        if (scored.truth[p] != positive || scored.truth[n] == positive) continue;
        twice += scores[p] > scores[n] ? 2 : scores[p] == scores[n] ? 1 : 0;
      }
    }
    const RocPairs pairs = roc_pairs(scores, scored.truth, positive);
    CHECK(pairs.twice_ordered == twice);
    CHECK(pairs.positives + pairs.negatives == 500);
  }
}

TEST_CASE("ROC AUC by hand, and in undefined cases") {
  const std::vector<std::int32_t> truth{0, 1, 0, 1};
  CHECK(roc_pairs(std::vector{0.1, 0.9, 0.2, 0.8}, truth, 1).area() == 1);
  CHECK(roc_pairs(std::vector{0.1, 0.9, 0.2, 0.8}, truth, 0).area() == 0);
  CHECK(roc_pairs(std::vector{0.5, 0.5, 0.5, 0.5}, truth, 1).area() == 0.5);
  CHECK(std::isnan(roc_pairs(std::vector{0.1, 0.9, 0.2, 0.8}, truth, 2).area()));
  const double nan = std::numeric_limits<double>::quiet_NaN();
  CHECK(std::isnan(roc_pairs(std::vector{0.1, nan, 0.2, 0.8}, truth, 1).area()));
  CHECK(std::isnan(roc_pairs({}, {}, 1).area()));
}

// The points of all thresholds, counted one by one, and the line between them; at one x, the highest.
double slow_curve(const std::vector<double>& scores, const std::vector<std::int32_t>& truth,
                  std::int32_t positive, double x) {
  std::vector<std::pair<double, double>> points{{0, 0}};
  std::vector<double> thresholds = scores;
  std::sort(thresholds.rbegin(), thresholds.rend());
  for (const double threshold : thresholds) {
    double found[] = {0, 0}, all[] = {0, 0};
    for (std::size_t i = 0; i < scores.size(); ++i) {
      ++all[truth[i] == positive];
      found[truth[i] == positive] += scores[i] >= threshold;
    }
    points.emplace_back(found[0] / all[0], found[1] / all[1]);
  }
  double y = 0;
  for (std::size_t p = 0; p < points.size(); ++p) {
    if (points[p].first == x) y = std::max(y, points[p].second);
    if (p == 0 || points[p - 1].first >= x || points[p].first <= x) continue;
    const auto [x0, y0] = points[p - 1];
    y = std::max(y, y0 + (points[p].second - y0) * (x - x0) / (points[p].first - x0));
  }
  return y;
}

TEST_CASE("a ROC curve equals the points of all thresholds, and undefined ones are empty") {
  const std::vector<double> grid = roc_grid();
  CHECK(grid.front() == 0);
  CHECK(grid.back() == 1);
  for (const std::int32_t classes : {2, 3}) {
    const Scored scored(classes);
    for (std::int32_t c = 0; c < classes; ++c) {
      const std::vector<double>& scores = scored.scores[static_cast<std::size_t>(c)];
      const std::vector<double> curve = roc_curve(scores, scored.truth, c);
      REQUIRE(curve.size() == grid.size());
      for (std::size_t i = 0; i < grid.size(); ++i)
        CHECK(curve[i] == Approx(slow_curve(scores, scored.truth, c, grid[i])).epsilon(1e-12));
    }
  }
  // Two positives first, then a tie of one positive and one negative, then a negative.
  const std::vector<double> scores{4, 3, 2, 2, 1};
  const std::vector<double> curve = roc_curve(scores, std::vector<std::int32_t>{1, 1, 1, 0, 0}, 1);
  CHECK(curve.front() == Approx(2.0 / 3));
  CHECK(curve[20] == Approx(2.0 / 3 + 1.0 / 3 * 0.25 / 0.5));  // x = (20 / 40)^2
  CHECK(curve.back() == 1);
  CHECK(roc_curve(scores, std::vector<std::int32_t>(5, 1), 1).empty());
  CHECK(roc_curve(std::vector<double>{1, NAN}, std::vector<std::int32_t>{0, 1}, 1).empty());
}
