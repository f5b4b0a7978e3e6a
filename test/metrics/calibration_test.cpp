#include "convoke/metrics/calibration.hpp"

#include "support/catch.hpp"

using convoke::metrics::Calibration;

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
