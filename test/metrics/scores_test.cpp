#include "convoke/metrics/scores.hpp"

#include "support/catch.hpp"

using namespace convoke::metrics;

namespace {

double kappa_of(const std::vector<std::int32_t>& truth, const std::vector<std::int32_t>& predicted,
                std::int64_t classes) {
  ConfusionMatrix matrix(classes);
  matrix.add(truth, predicted);
  return quadratic_kappa(matrix);
}

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

TEST_CASE("top-k hits equal scikit-learn's if no two classes tie") {
  // i = np.arange(500)[:, None]; c = np.arange(5); p = (i * 37 + c * 101 + (i * c) % 17 * 211) % 1009
  // [top_k_accuracy_score((i * 7 + i // 11)[:, 0] % 5, p, k=k) for k in (1, 2, 3, 4)]
  std::vector<double> probabilities;
  std::vector<std::int32_t> truth;
  for (std::int32_t i = 0; i < 500; ++i) {
    truth.push_back((i * 7 + i / 11) % 5);
    for (std::int32_t c = 0; c < 5; ++c) {
      probabilities.push_back((i * 37 + c * 101 + (i * c) % 17 * 211) % 1009);
    }
  }
  CHECK(top_k_hits(probabilities, truth, 1) == 107);
  CHECK(top_k_hits(probabilities, truth, 2) == 209);
  CHECK(top_k_hits(probabilities, truth, 3) == 308);
  CHECK(top_k_hits(probabilities, truth, 4) == 409);
  CHECK(top_k_hits(probabilities, truth, 5) == 500);
}

TEST_CASE("among equals the lowest label comes first, and NaN is not a hit") {
  const std::vector<double> equal{0.25, 0.25, 0.25, 0.25};
  CHECK(top_k_hits(equal, std::vector<std::int32_t>{1}, 1) == 0);
  CHECK(top_k_hits(equal, std::vector<std::int32_t>{1}, 2) == 1);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  CHECK(top_k_hits(std::vector{nan, nan, nan}, std::vector<std::int32_t>{0}, 2) == 0);
  CHECK(top_k_hits({}, {}, 2) == 0);
}

// scikit-learn 1.9: cohen_kappa_score(truth, predicted, weights="quadratic", labels=range(classes))
TEST_CASE("quadratic-weighted kappa equals scikit-learn's, also in extreme cases") {
  CHECK(kappa_of({0, 1, 2, 2, 2, 1, 0, 0, 1, 2}, {0, 2, 2, 2, 1, 1, 0, 0, 1, 0}, 3) ==
        Approx(0.5774647887323943).epsilon(1e-14));
  // Classes 2 and 4 are absent, but the others keep their grades.
  CHECK(kappa_of({0, 0, 1, 3, 3, 3}, {0, 1, 1, 3, 3, 0}, 5) == Approx(0.53125).epsilon(1e-14));
  std::vector<std::int32_t> truth;
  std::vector<std::int32_t> predicted;
  for (std::int32_t i = 0; i < 500; ++i) {
    truth.push_back((i * 7 + i / 11) % 5);
    predicted.push_back(i % 3 == 0 ? (truth.back() + i / 3) % 5 : truth.back());
  }
  CHECK(kappa_of(truth, predicted, 5) == Approx(0.6594381468703795).epsilon(1e-14));
  CHECK(kappa_of({0, 1, 2}, {0, 1, 2}, 3) == 1);
  CHECK(kappa_of({0, 1}, {1, 0}, 2) == -1);
  CHECK(kappa_of({0, 0, 1, 1}, {0, 1, 0, 1}, 2) == 0);
  CHECK(std::isnan(kappa_of({1, 1}, {1, 1}, 3)));
  CHECK(std::isnan(kappa_of({}, {}, 3)));
}

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

using Points = std::vector<std::pair<double, double>>;

// The points of all thresholds, counted one by one.
Points slow_points(const std::vector<double>& scores, const std::vector<std::int32_t>& truth,
                   std::int32_t positive) {
  Points points{{0, 0}};
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
  return points;
}

// The line between the points; at one x, the highest.
double height_at(double x, const Points& points) {
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
      const Points points = slow_points(scores, scored.truth, c);
      for (std::size_t i = 0; i < grid.size(); ++i)
        CHECK(curve[i] == Approx(height_at(grid[i], points)).epsilon(1e-12));
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

TEST_CASE("calibration of four predictions by hand") {
  Calibration calibration(2);
  calibration.add(0.5, true);  // the end of the first bin belongs to it
  calibration.add(0.25, false);
  calibration.add(1.0, true);
  calibration.add(0.75, true);
  CHECK(calibration.bin(0).samples == 2);
  CHECK(calibration.bin(0).confidence == 0.375);
  CHECK(calibration.bin(0).accuracy == 0.5);
  CHECK(calibration.bin(1).confidence == 0.875);
  CHECK(calibration.bin(1).accuracy == 1);
  CHECK(calibration.expected_error() == 0.125);
  CHECK(calibration.maximum_error() == 0.125);
}

TEST_CASE("calibration without samples, and with values that are not probabilities") {
  Calibration calibration;
  CHECK(calibration.bins() == 15);
  CHECK(std::isnan(calibration.expected_error()));
  CHECK(std::isnan(calibration.maximum_error()));
  for (const double confidence : {0.0, -1.0, std::numeric_limits<double>::quiet_NaN()}) {
    calibration.add(confidence, false);
  }
  calibration.add(1.5, true);
  CHECK(calibration.bin(0).samples == 3);
  CHECK(calibration.bin(14).samples == 1);
  CHECK(calibration.expected_error() == 0);
}

// The values come from golden_calibration.py: torchmetrics, in single precision, and NumPy.
TEST_CASE("calibration errors equal those of torchmetrics, and add up over parts") {
  std::array<Calibration, 3> parts;
  for (int i = 0; i < 500; ++i) {
    std::array<double, 4> probabilities{};
    double sum = 0;
    for (int c = 0; c < 4; ++c) {
      const double weight = (i * 13 + c * 29 + i / 7 * c) % 17 + 1.37;
      probabilities[static_cast<std::size_t>(c)] = weight * weight;
      sum += weight * weight;
    }
    const auto best = std::max_element(probabilities.begin(), probabilities.end());
    const auto label = best - probabilities.begin();
    const auto truth = i % 3 == 0 ? (i * 7 + i / 11) % 4 : label;
    parts[static_cast<std::size_t>(i % 3)].add(*best / sum, label == truth);
  }
  Calibration whole;
  for (const Calibration& part : parts) {
    std::transform(part.counts().begin(), part.counts().end(), whole.counts().begin(), whole.counts().begin(),
                   std::plus<>());
  }
  CHECK(whole.expected_error() == Approx(0.225725561870).epsilon(1e-8));
  CHECK(whole.maximum_error() == Approx(0.540749334192).epsilon(1e-8));
  CHECK(whole.bin(8).samples == 106);
  CHECK(whole.bin(8).confidence == Approx(0.5586566199440476).epsilon(1e-8));
  CHECK(whole.bin(8).accuracy == Approx(0.6792452830188679));
}
