#include "convoke/metrics/top_k.hpp"

#include "convoke/core/error.hpp"

namespace convoke::metrics {

std::int64_t top_k_hits(std::span<const double> probabilities, std::span<const std::int32_t> truth,
                        std::int64_t k) {
  if (truth.empty()) return 0;
  ensure(probabilities.size() % truth.size() == 0, "every sample has equally many probabilities");
  const std::size_t classes = probabilities.size() / truth.size();
  std::int64_t hits = 0;
  for (std::size_t i = 0; i < truth.size(); ++i) {
    const auto label = static_cast<std::size_t>(truth[i]);
    ensure(label < classes, "the label of a sample is a valid class");
    const std::span<const double> row = probabilities.subspan(i * classes, classes);
    std::int64_t before = 0;  // classes that come before the true one; negated, for NaN
    for (std::size_t c = 0; c < classes; ++c) {
      before += c != label && !(row[c] < row[label]) && !(row[c] == row[label] && c > label);
    }
    hits += before < k;
  }
  return hits;
}

}  // namespace convoke::metrics
