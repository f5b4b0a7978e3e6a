#include "convoke/study/analysis/laws.hpp"

#include "support/catch.hpp"

// Golden values: golden_statistics.py, from scipy.

using namespace convoke::study;

TEST_CASE("Amdahl's law is fitted as scipy fits it; without degrees of freedom it has no interval") {
  const std::vector<TimesAt> times{{1, {100, 104}}, {2, {56, 55}}, {4, {33, 34}}, {8, {22, 21.5}}};
  const auto fit = AmdahlFit::of(times);
  REQUIRE(fit);
  CHECK(fit->degrees() == 6);
  CHECK(fit->sequential_seconds().value == Approx(101.63128704330359));
  CHECK(fit->sequential_seconds().interval->high == Approx(101.63128704330359 + 2.4878668));
  CHECK(fit->serial_fraction().value == Approx(0.1023836492846511));
  CHECK(fit->serial_fraction().interval->low == Approx(0.1023836492846511 - 0.01026831).epsilon(1e-6));
  const Prediction at16 = fit->at(16), at64 = fit->at(64);
  CHECK(at16.seconds == Approx(16.107001111133943));
  CHECK(at16.seconds_interval->high == Approx(16.107001111133943 + 1.0210302093893693));
  CHECK(at64.seconds_interval->low == Approx(11.830786814525462 - 0.9822626882525525));
  CHECK(at16.speedup == Approx(101.63128704330359 / 16.107001111133943));
  const auto exact = AmdahlFit::of(std::vector<TimesAt>{{1, {100}}, {4, {40}}});
  REQUIRE(exact);
  CHECK(exact->serial_fraction().value == Approx(0.2));  // 100 (0.2 + 0.8 / 4) = 40
  CHECK_FALSE(exact->serial_fraction().interval);
  CHECK_FALSE(exact->at(8).seconds_interval);
  CHECK_FALSE(AmdahlFit::of(std::vector<TimesAt>{{2, {100, 101}}}));
  CHECK_FALSE(AmdahlFit::of(std::vector<TimesAt>{}));
}

TEST_CASE("Gustafson's law is fitted as scipy fits it") {
  const std::vector<TimesAt> times{{1, {100, 104}}, {2, {106, 108}}, {4, {115, 113}}, {8, {118, 121}}};
  const auto serial = gustafson_serial_fraction(times);
  REQUIRE(serial);
  CHECK(serial->value == Approx(0.16215528301924548));
  CHECK(serial->interval->high == Approx(0.16215528301924548 + 0.053693021623597036).epsilon(1e-6));

  const auto few = gustafson_serial_fraction(std::vector<TimesAt>{{1, {100}}, {2, {100 / 0.95}}});
  REQUIRE(few);
  CHECK(few->value == Approx(0.1));  // S = 1.9
  CHECK_FALSE(few->interval);
  CHECK_FALSE(gustafson_serial_fraction(std::vector<TimesAt>{{1, {100, 101}}}));
  CHECK_FALSE(gustafson_serial_fraction(std::vector<TimesAt>{{1, {100}}, {2, {0}}}));
}
