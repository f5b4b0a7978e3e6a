#include "convoke/explore/pca.hpp"

#include "points.hpp"
#include "support/catch.hpp"

using namespace convoke::explore;

namespace {

// Of all values, after the samples were made of `components`.
double measured_error(const Matrix& points, const Pca& pca, std::int64_t components) {
  double squares = 0;
  for (std::int64_t i = 0; i < points.rows; ++i) {
    const std::vector<double> sample = reconstruct(pca, i, components);
    for (std::int64_t c = 0; c < points.columns; ++c)
      squares += std::pow(sample[static_cast<std::size_t>(c)] - points(i, c), 2);
  }
  return std::sqrt(squares / static_cast<double>(points.values.size()));
}

}  // namespace

TEST_CASE("the errors of reconstruction equal those measured, and scikit-learn's") {
  for (const auto& [n, d] : {std::pair(40, 6), {5, 12}}) {
    const Matrix points = heaps(n, d);
    const Pca all = pca(points, 12);
    const std::vector<double> errors = reconstruction_errors(all);
    REQUIRE(errors.size() == all.variance.size() + 1);
    for (std::size_t k = 0; k < errors.size(); ++k)
      CHECK(errors[k] == Approx(measured_error(points, all, static_cast<std::int64_t>(k))).margin(1e-6));
  }
  const std::vector<double> golden{1.60414221533, 1.18818855113, 0.820884969883, 0.528596333807,
                                   0.237407736621};  // golden_statistics.py
  const std::vector<double> errors = reconstruction_errors(pca(heaps(40, 6), 5));
  for (std::size_t k = 0; k < golden.size(); ++k) CHECK(errors[k + 1] == Approx(golden[k]).epsilon(1e-9));
}

TEST_CASE("samples that are all equal are made of their mean") {
  const Pca none = pca(Matrix(4, 3), 3);
  CHECK(reconstruction_errors(none) == std::vector<double>{0});
  CHECK(reconstruct(none, 2, 3) == std::vector<double>(3, 0.0));
}
