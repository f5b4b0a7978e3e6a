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

}  // namespace

// scikit-learn 1.9: cohen_kappa_score(truth, predicted, weights="quadratic", labels=range(classes))
TEST_CASE("quadratic-weighted kappa equals scikit-learn's") {
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
}

TEST_CASE("quadratic-weighted kappa in extreme cases") {
  CHECK(kappa_of({0, 1, 2}, {0, 1, 2}, 3) == 1);
  CHECK(kappa_of({0, 1}, {1, 0}, 2) == -1);
  CHECK(kappa_of({0, 0, 1, 1}, {0, 1, 0, 1}, 2) == 0);
  CHECK(std::isnan(kappa_of({1, 1}, {1, 1}, 3)));
  CHECK(std::isnan(kappa_of({}, {}, 3)));
}
