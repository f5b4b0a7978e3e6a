#include "convoke/explore/distribution.hpp"

#include "points.hpp"
#include "support/catch.hpp"

using namespace convoke::explore;

namespace {

void check_box(const BoxPlot& box, const std::vector<double>& golden, double within) {
  const std::vector<double> found{box.minimum,        box.low,  box.first_quartile, box.median,
                                  box.third_quartile, box.high, box.maximum};
  for (std::size_t i = 0; i < golden.size(); ++i) CHECK_THAT(found[i], WithinAbs(golden[i], within));
}

std::vector<float> second_column() {
  const Matrix points = heaps(30, 4);
  std::vector<float> values;
  for (std::int64_t i = 0; i < 30; ++i) values.push_back(static_cast<float>(points(i, 1)));
  return values;
}

}  // namespace

// The expected numbers come from golden_statistics.py.

TEST_CASE("quantiles and histograms of numbers equal NumPy's") {
  std::vector<float> values = second_column();
  const Histogram bins = histogram(values, 7);
  CHECK(bins.counts == std::vector<std::int64_t>{4, 4, 4, 6, 2, 6, 4});
  CHECK_THAT(bins.begin, WithinAbs(-3.5003881, 1e-6));
  CHECK_THAT(bins.width, WithinAbs(1.0478134, 1e-6));
  check_box(box_plot(values),
            {-3.50038814545, -3.20433270931, -1.42404794693, 0.547910362482, 2.04944676161, 3.42092323303,
             3.83430457115},
            1e-9);
}

TEST_CASE("quantiles and moments of bytes, from their counts, equal NumPy's") {
  ByteCounts counts{};
  for (std::size_t i = 0; i < 1000; ++i) ++counts[i * i % 241];
  check_box(box_plot(counts), {0, 6, 53.75, 120, 183, 233, 240}, 1e-12);
  const Moments m = moments(counts);
  CHECK_THAT(m.mean, WithinAbs(119.022, 1e-9));
  CHECK_THAT(m.deviation, WithinAbs(73.6706421582, 1e-9));
  CHECK(m.minimum == 0);
  CHECK(m.maximum == 240);
}

TEST_CASE("bins of whole numbers have a whole width, so that each holds as many numbers") {
  std::vector<float> values;
  for (int i = 100; i < 200; ++i) values.push_back(static_cast<float>(i));
  const Histogram bins = histogram_of_whole(values, 100, 40);
  CHECK(bins.begin == 100);
  CHECK(bins.width == 3);
  REQUIRE(bins.counts.size() == 34);
  CHECK(std::count(bins.counts.begin(), bins.counts.end(), 3) == 33);
  CHECK(bins.counts.back() == 1);
  CHECK(histogram_of_whole(values, 0, 60).counts.size() == 50);
  CHECK(histogram_of_whole({}, 0, 60).counts.empty());
}

TEST_CASE("an empty list, one number and equal numbers have a distribution") {
  std::vector<float> none;
  CHECK(box_plot(none).count == 0);
  CHECK(box_plot(ByteCounts{}).count == 0);
  CHECK(moments(ByteCounts{}).count == 0);
  CHECK(histogram(none, 5).counts.empty());

  std::vector<float> one{7};
  check_box(box_plot(one), {7, 7, 7, 7, 7, 7, 7}, 0);
  const std::vector<float> equal(9, 3.5F);
  CHECK(histogram(equal, 5).counts == std::vector<std::int64_t>{9});
}

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
