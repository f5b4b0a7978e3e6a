#include "convoke/metrics/confusion_matrix.hpp"

#include <numeric>
#include <string>

#include "convoke/core/error.hpp"

namespace convoke::metrics {

ConfusionMatrix::ConfusionMatrix(std::int64_t classes)
    : classes_(classes), counts_(static_cast<std::size_t>(classes * classes)) {
  ensure(classes > 0, "there is a class");
}

void ConfusionMatrix::add(std::span<const std::int32_t> truth, std::span<const std::int32_t> predicted) {
  ensure(truth.size() == predicted.size(), "a prediction for each sample");
  for (std::size_t i = 0; i < truth.size(); ++i) {
    for (const std::int32_t label : {truth[i], predicted[i]}) {
      if (label < 0 || label >= classes_) {
        throw Error("label " + std::to_string(label) + " of sample " + std::to_string(i) +
                    " is outside the " + std::to_string(classes_) + " classes");
      }
    }
    ++counts_[static_cast<std::size_t>(truth[i] * classes_ + predicted[i])];
  }
}

std::int64_t ConfusionMatrix::at(std::int64_t truth, std::int64_t predicted) const {
  ensure(truth >= 0 && truth < classes_ && predicted >= 0 && predicted < classes_,
         "the cell lies within the matrix");
  return counts_[static_cast<std::size_t>(truth * classes_ + predicted)];
}

std::int64_t ConfusionMatrix::total() const {
  return std::accumulate(counts_.begin(), counts_.end(), std::int64_t{0});
}

}  // namespace convoke::metrics
