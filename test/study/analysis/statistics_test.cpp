#include "convoke/study/analysis/statistics.hpp"

#include "support/catch.hpp"

// Golden values: golden_statistics.py, from scipy.

using namespace convoke::study;

namespace {

const std::vector<double> kA{10.02, 9.87, 10.31, 10.11, 9.95};
const std::vector<double> kB{5.64, 5.71, 5.38, 5.55};

}  // namespace

TEST_CASE("Student's t equals scipy's") {
  CHECK(student_t(1) == Approx(12.706204736174694).epsilon(1e-9));
  CHECK(student_t(2) == Approx(4.302652729749462).epsilon(1e-9));
  CHECK(student_t(3.7) == Approx(2.8675207071911895).epsilon(1e-9));
  CHECK(student_t(9) == Approx(2.262157162798205).epsilon(1e-9));
  CHECK(student_t(1000) == Approx(1.9623390808264083).epsilon(1e-9));
  CHECK(student_p(0.5, 1) == Approx(0.7048327646991335).epsilon(1e-9));
  CHECK(student_p(-2.5, 7.3) == Approx(0.03965023466560043).epsilon(1e-9));
  CHECK(student_p(12, 30) == Approx(5.580185415199261e-13).epsilon(1e-6));
}

TEST_CASE("mean, median, standard deviation and interval equal scipy's") {
  const Statistics a = summarize(kA), b = summarize(kB);
  CHECK(a.count == 5);
  CHECK(a.mean == Approx(10.052));
  CHECK(a.median == 10.02);
  CHECK(a.deviation == Approx(0.16917446615846068));
  CHECK(a.interval->low == Approx(9.8419421559557));
  CHECK(a.interval->high == Approx(10.262057844044303));
  CHECK(a.relative_error.value() == Approx((10.262057844044303 - 10.052) / 10.052));
  CHECK(b.median == Approx(5.595));
  CHECK(b.interval->low == Approx(5.343099538408203));
}

TEST_CASE("a single value has no interval, and constants have one of zero width") {
  const Statistics one = summarize(std::vector{3.0});
  CHECK(one.mean == 3);
  CHECK(one.median == 3);
  CHECK_FALSE(one.interval);
  CHECK_FALSE(one.relative_error);
  CHECK_FALSE(one.is_constant());
  CHECK_FALSE(runs_needed(one, 0.05));
  CHECK_FALSE(welch_test(one, summarize(kA)));
  CHECK_FALSE(ratio(one, summarize(kA)).interval);

  const Statistics constant = summarize(std::vector{0.1, 0.1, 0.1});
  CHECK(constant.is_constant());
  CHECK(constant.interval == Interval{0.1, 0.1});
  CHECK(constant.relative_error == 0);
  CHECK(runs_needed(constant, 0.05) == 0);
  CHECK(welch_test(constant, constant)->p == 1);
  CHECK(welch_test(constant, summarize(std::vector{0.2, 0.2}))->p == 0);
  CHECK(ratio(constant, constant).interval == Interval{1, 1});
  CHECK_FALSE(summarize(std::vector{-1.0, 1.0}).relative_error);  // mean 0
}

TEST_CASE("runs are added until the relative error is below the target") {
  CHECK(runs_needed(summarize(kA), 0.05) == 0);
  CHECK(runs_needed(summarize(std::vector{10.0, 13.0, 8.0}), 0.05) == 91);
  for (const auto& [scatter, runs] :
       {std::pair{0.03, 4}, {0.05, 7}, {0.1, 18}, {0.15, 38}}) {  // docs/studies.md
    Statistics two;
    two.count = 2;
    two.mean = 1;
    two.deviation = scatter;
    two.relative_error = student_t(1) * scatter / std::sqrt(2);
    CHECK(two.count + *runs_needed(two, 0.05) == runs);
  }
  // A target that cannot be reached: mean 1, standard deviation 0.5, so (1.959964 * 0.5 / target)^2.
  const Statistics wide = summarize(std::vector{0.5, 1.5, 1.0});
  CHECK(*runs_needed(wide, 1e-6) == Approx(std::pow(1.959964 * 0.5 / 1e-6, 2)));
  CHECK(*runs_needed(wide, 1e-300) > 1'000'000'000);
}

TEST_CASE("Welch's test equals scipy's") {
  std::vector<double> b = kB;
  for (double& value : b) value += 4.4;
  const auto test = welch_test(summarize(kA), summarize(b));
  REQUIRE(test);
  CHECK(test->t == Approx(0.7887776184656257));
  CHECK(test->degrees == Approx(6.950439632587359));
  CHECK(test->p == Approx(0.4562991226643761));
  CHECK(test->interval.low == Approx(-0.1641781564781366));
  CHECK(test->interval.high == Approx(0.32817815647814164));
  const auto other = welch_test(summarize(b), summarize(kA));
  CHECK(other->difference == Approx(-test->difference));
  CHECK(other->p == Approx(test->p));
}

TEST_CASE("p-values of several tests are adjusted by Holm's method") {  // computed by hand
  CHECK(holm(std::vector{0.01, 0.04, 0.03, 0.005}) == std::vector{0.03, 0.06, 0.06, 0.02});
  CHECK(holm(std::vector{0.9, 0.8}) == std::vector{1.0, 1.0});
  CHECK(holm(std::vector<double>{}).empty());
}

TEST_CASE("the interval of a quotient is where Welch's test is not significant") {
  const Ratio quotient = ratio(summarize(kA), summarize(kB));
  CHECK(quotient.value == Approx(1.8046678635547577));
  CHECK(quotient.interval->low == Approx(1.7376182533552689));
  CHECK(quotient.interval->high == Approx(1.8756360639018126));
  // A divisor that may be 0 gives no interval.
  CHECK_FALSE(ratio(summarize(kA), summarize(std::vector{-1.0, 1.5})).interval);
}
