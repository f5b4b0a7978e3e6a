#include "convoke/metrics/classification_report.hpp"

#include "support/catch.hpp"
#include "support/error_of.hpp"

using namespace convoke::metrics;

namespace {

ClassificationReport report_of(const std::vector<std::int32_t>& truth,
                               const std::vector<std::int32_t>& predicted, std::int64_t classes) {
  ConfusionMatrix matrix(classes);
  matrix.add(truth, predicted);
  return classification_report(matrix);
}

}  // namespace

// The texts below were printed by scikit-learn 1.9:
//   classification_report(truth, predicted, digits=4, labels=range(classes), target_names=names)

TEST_CASE("the classification report equals scikit-learn's if a class is never predicted") {
  CHECK(to_text(report_of({0, 0, 1, 1, 2, 2, 2}, {0, 1, 1, 1, 0, 1, 1}, 3)) ==
        R"(              precision    recall  f1-score   support

           0     0.5000    0.5000    0.5000         2
           1     0.4000    1.0000    0.5714         2
           2     0.0000    0.0000    0.0000         3

    accuracy                         0.4286         7
   macro avg     0.3000    0.5000    0.3571         7
weighted avg     0.2571    0.4286    0.3061         7
)");
}

TEST_CASE("the classification report equals scikit-learn's if classes are absent") {
  CHECK(to_text(report_of({0, 0, 1, 3, 3, 3}, {0, 1, 1, 3, 3, 0}, 5)) ==
        R"(              precision    recall  f1-score   support

           0     0.5000    0.5000    0.5000         2
           1     0.5000    1.0000    0.6667         1
           2     0.0000    0.0000    0.0000         0
           3     1.0000    0.6667    0.8000         3
           4     0.0000    0.0000    0.0000         0

    accuracy                         0.6667         6
   macro avg     0.4000    0.4333    0.3933         6
weighted avg     0.7500    0.6667    0.6778         6
)");
}

TEST_CASE("the classification report equals scikit-learn's with long and non-ASCII names") {
  CHECK(to_text(report_of({0, 1, 1, 0, 1}, {0, 1, 0, 0, 1}, 2), {"no diabetic retinopathy", "Ödem"}) ==
        R"(                         precision    recall  f1-score   support

no diabetic retinopathy     0.6667    1.0000    0.8000         2
                   Ödem     1.0000    0.6667    0.8000         3

               accuracy                         0.8000         5
              macro avg     0.8333    0.8333    0.8000         5
           weighted avg     0.8667    0.8000    0.8000         5
)");
}

TEST_CASE("the classification report equals scikit-learn's on many samples") {
  std::vector<std::int32_t> truth;
  std::vector<std::int32_t> predicted;
  for (std::int32_t i = 0; i < 12345; ++i) {
    truth.push_back((i * 7 + i / 11) % 10);
    predicted.push_back(i % 13 == 0 ? (truth.back() + i / 13) % 10 : truth.back());
  }
  CHECK(to_text(report_of(truth, predicted, 10)) == R"(              precision    recall  f1-score   support

           0     0.9184    0.9355    0.9269      1348
           1     0.9314    0.9314    0.9314      1122
           2     0.9413    0.9294    0.9353      1346
           3     0.9306    0.9314    0.9310      1123
           4     0.9413    0.9287    0.9349      1346
           5     0.8970    0.9314    0.9139      1122
           6     0.9406    0.9287    0.9346      1347
           7     0.9314    0.9314    0.9314      1122
           8     0.9413    0.9287    0.9350      1347
           9     0.9305    0.9314    0.9310      1122

    accuracy                         0.9307     12345
   macro avg     0.9304    0.9308    0.9305     12345
weighted avg     0.9309    0.9307    0.9308     12345
)");
}

TEST_CASE("the report without samples has only zeros") {
  const ClassificationReport report = report_of({}, {}, 2);
  CHECK(report.accuracy == 0);
  CHECK(report.weighted.f1 == 0);
  CHECK(report.macro.precision == 0);
}

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
