#include "convoke/metrics/classification_report.hpp"

#include "support/catch.hpp"
#include "support/error_of.hpp"

using convoke::metrics::ConfusionMatrix;

TEST_CASE("a confusion matrix counts true against predicted classes") {
  ConfusionMatrix matrix(3);
  matrix.add(std::vector<std::int32_t>{0, 1, 2, 2, 1}, std::vector<std::int32_t>{0, 2, 2, 1, 2});
  CHECK(matrix.at(0, 0) == 1);
  CHECK(matrix.at(1, 2) == 2);
  CHECK(matrix.at(2, 1) == 1);
  CHECK(matrix.at(1, 1) == 0);
  CHECK(matrix.total() == 5);
  CHECK(std::vector<std::int64_t>(matrix.counts().begin(), matrix.counts().end()) ==
        std::vector<std::int64_t>{1, 0, 0, 0, 0, 2, 0, 1, 1});
}

TEST_CASE("confusion matrices of parts add up to that of the whole") {
  const std::vector<std::int32_t> truth{0, 1, 1, 0, 1, 1, 0};
  const std::vector<std::int32_t> predicted{0, 0, 1, 1, 1, 0, 0};
  ConfusionMatrix whole(2);
  whole.add(truth, predicted);
  ConfusionMatrix a(2);
  ConfusionMatrix b(2);
  a.add(std::span(truth).first(3), std::span(predicted).first(3));
  b.add(std::span(truth).subspan(3), std::span(predicted).subspan(3));
  for (std::size_t i = 0; i < 4; ++i) CHECK(a.counts()[i] + b.counts()[i] == whole.counts()[i]);
}

TEST_CASE("a label outside the classes is refused with its sample") {
  ConfusionMatrix matrix(3);
  const auto error = [&](const std::vector<std::int32_t>& truth, const std::vector<std::int32_t>& predicted) {
    return error_of([&] { matrix.add(truth, predicted); });
  };
  CHECK(error({0, 3}, {0, 0}) == "label 3 of sample 1 is outside the 3 classes");
  CHECK(error({0}, {-1}) == "label -1 of sample 0 is outside the 3 classes");
}
