#include "convoke/explore/gradients.hpp"

#include "support/catch.hpp"

using namespace convoke;
using namespace convoke::explore;

// The expected numbers come from golden_statistics.py: scipy.ndimage.sobel and scikit-image's hog.

namespace {

Matrix waves() {
  Matrix image(17, 14);
  for (std::int64_t r = 0; r < image.rows; ++r) {
    for (std::int64_t c = 0; c < image.columns; ++c)
      image(r, c) = std::sin(0.7 * static_cast<double>(r) + 0.3 * static_cast<double>(c)) * 100 +
                    static_cast<double>(r * c % 13);
  }
  return image;
}

double sum(const std::vector<double>& values) { return std::accumulate(values.begin(), values.end(), 0.0); }

// L2-Hys: length 1, cut off at 0.2, length 1 again.
void normalize(std::span<double> block) {
  constexpr double kMost = 0.2, kEpsilon = 1e-5;
  for (int pass = 0; pass < 2; ++pass) {
    double squares = 0;
    for (const double value : block) squares += value * value;
    const double length = std::sqrt(squares + kEpsilon * kEpsilon);
    for (double& value : block) value = pass == 0 ? std::min(value / length, kMost) : value / length;
  }
}

// The features of scikit-image: blocks of 2 x 2 cells, each normalized; (rows - 1, columns - 1, 2, 2, 9).
std::vector<double> features_of(const Hog& hog) {
  std::vector<double> blocks;
  for (std::int64_t y = 0; y + 2 <= hog.rows; ++y) {
    for (std::int64_t x = 0; x + 2 <= hog.columns; ++x) {
      const std::size_t first = blocks.size();
      for (std::int64_t row = y; row < y + 2; ++row) {
        const auto begin = hog.cells.begin() + (row * hog.columns + x) * Hog::kOrientations;
        blocks.insert(blocks.end(), begin, begin + 2 * Hog::kOrientations);
      }
      normalize(std::span(blocks).subspan(first));
    }
  }
  return blocks;
}

}  // namespace

TEST_CASE("edges equal scipy's Sobel operator") {
  const Matrix edges = sobel(waves());
  const std::vector<double> first{271.837781738, 297.740751086, 232.040764568, 146.744434074, 51.8459437517,
                                  57.5854205911, 149.708831623, 228.899070696, 286.14386196,  315.925369835,
                                  315.408261746, 284.659054562, 245.124417203, 157.717698616};
  for (std::size_t c = 0; c < first.size(); ++c) CHECK(edges.values[c] == Approx(first[c]).epsilon(1e-9));
  const std::vector<double> golden{77826.5083178, 178.075167971};
  CHECK(sum(edges.values) == Approx(golden[0]).epsilon(1e-9));
  CHECK(edges.values.back() == Approx(golden[1]).epsilon(1e-9));
}

TEST_CASE("histograms of oriented gradients equal scikit-image's") {
  const Hog found = hog(waves(), 4);
  CHECK(found.rows == 4);
  CHECK(found.columns == 3);
  const std::vector<double> blocks = features_of(found);
  REQUIRE(blocks.size() == 3 * 2 * 2 * 2 * 9);
  // clang-format off
  const std::vector<double> first{0.140487678065, 0, 0, 0.45211226757, 0.185765542397, 0, 0, 0, 0,
      0.0681386528948, 0, 0, 0.45211226757, 0, 0, 0, 0, 0, 0, 0.00470084804901, 0, 0.45211226757,
      0.350680856149, 0, 0, 0, 0, 0, 0.0111462448065, 0.0191334648281, 0.45211226757, 0, 0, 0, 0, 0};
  // clang-format on
  for (std::size_t i = 0; i < first.size(); ++i)
    CHECK_THAT(blocks[i], WithinAbs(first[i], 1e-7));  // scikit-image adds in fp32
  const std::vector<double> golden{0, 0, 0.0446609995455, 0.498506375748, 0, 0, 0, 0, 0, 14.351864871};
  for (std::size_t i = 0; i < 9; ++i) CHECK_THAT(blocks[blocks.size() - 9 + i], WithinAbs(golden[i], 1e-7));
  CHECK(sum(blocks) == Approx(golden[9]).epsilon(1e-9));
}

TEST_CASE("an edge has its orientation, and an even image has none") {
  Matrix image(8, 8);  // dark on the left, bright on the right
  for (std::int64_t r = 0; r < 8; ++r) {
    for (std::int64_t c = 4; c < 8; ++c) image(r, c) = 10;
  }
  CHECK(sobel(image)(3, 3) == 40);
  CHECK(sobel(image)(3, 1) == 0);
  const Hog found = hog(image, 8);
  REQUIRE(found.cells.size() == 9);
  CHECK(found.cells[0] == Approx(2 * 8 * 10.0 / 64));  // two columns of gradients of 10, across
  CHECK(sum(found.cells) == found.cells[0]);
  CHECK(sum(hog(Matrix(8, 8), 4).cells) == 0);
}

TEST_CASE("gray is the mean of the channels") {
  const std::vector<double> values{1, 2, 6, 4, 4, 4};
  CHECK(gray(Shape{1, 2, 3}, values).values == std::vector<double>{3, 4});
}
