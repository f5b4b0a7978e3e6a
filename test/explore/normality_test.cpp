#include "convoke/explore/normality.hpp"

#include "points.hpp"
#include "support/catch.hpp"

using namespace convoke::explore;

// The expected numbers come from golden_statistics.py: scipy.stats.skew, kurtosis and normaltest.

namespace {

std::vector<double> column(const Matrix& matrix, std::int64_t c) {
  std::vector<double> values;
  for (std::int64_t r = 0; r < matrix.rows; ++r) values.push_back(matrix(r, c));
  return values;
}

void check(const Normality& found, std::vector<double> golden) {
  CHECK(found.skewness == Approx(golden[0]).epsilon(1e-9));
  CHECK(found.kurtosis == Approx(golden[1]).epsilon(1e-9));
  CHECK(found.statistic == Approx(golden[2]).epsilon(1e-9));
  CHECK(found.p == Approx(golden[3]).epsilon(1e-8));
}

}  // namespace

TEST_CASE("the test of normality equals scipy's, of numbers and of counted bytes") {
  check(normality(column(heaps(30, 4), 1)),
        {-0.0788970714209, -0.991868549049, 2.41246370309, 0.299323050753});
  check(normality(column(heaps(20, 4), 2)), {0.317421706927, -1.41429862824, 6.58334996031, 0.0371915021675});
  std::vector<double> squares;
  for (int i = 0; i < 200; ++i) squares.push_back(i * i);
  check(normality(squares), {0.641527846431, -0.854272115314, 30.1856062358, 2.78791089744e-07});
  ByteCounts counts{};
  for (int i = 0; i < 1000; ++i) ++counts[static_cast<std::size_t>(i * i % 241)];
  check(normality(counts), {0.0140381430619, -1.2440213491, 1085.35073681, 2.08488467685e-236});
}

TEST_CASE("few or equal numbers have no test of normality") {
  const std::vector<double> few(column(heaps(19, 2), 1)), equal(100, 0.1);
  CHECK(std::isnan(normality(few).p));
  CHECK(normality(few).count == 19);
  CHECK(std::isnan(normality(equal).statistic));
  CHECK(normality(equal).skewness == 0);
  CHECK(std::isnan(normality(std::vector<double>{}).p));
}
