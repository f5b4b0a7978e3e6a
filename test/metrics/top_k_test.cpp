#include "convoke/metrics/scores.hpp"

#include "support/catch.hpp"

using namespace convoke::metrics;

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
