#include "convoke/vote/vote_counts.hpp"

#include <algorithm>

#include "convoke/core/error.hpp"

namespace convoke::vote {

std::vector<std::int32_t> labels_in(std::span<const float> predictions, std::int64_t classes) {
  std::vector<std::int32_t> labels;
  labels.reserve(predictions.size() / static_cast<std::size_t>(classes));
  for (auto row = predictions.begin(); row != predictions.end(); row += classes) {
    labels.push_back(static_cast<std::int32_t>(std::max_element(row, row + classes) - row));
  }
  return labels;
}

VoteCounts::VoteCounts(std::int64_t samples, std::int64_t classes)
    : samples_(samples),
      classes_(classes),
      votes_(static_cast<std::size_t>(samples * classes)),
      sums_(votes_.size()) {}

std::vector<std::int32_t> VoteCounts::add(std::span<const float> predictions) {
  ensure(predictions.size() == sums_.size(), "predictions have the probabilities of each sample");
  ++members_;
  std::size_t row = 0;
  std::vector<std::int32_t> labels = labels_in(predictions, classes_);
  for (const std::int32_t label : labels) {
    ++votes_[row + static_cast<std::size_t>(label)];
    row += static_cast<std::size_t>(classes_);
  }
  for (std::size_t i = 0; i < sums_.size(); ++i) sums_[i] += static_cast<double>(predictions[i]);
  return labels;
}

std::vector<double> VoteCounts::mean_probabilities() const {
  std::vector<double> means(sums_);
  for (double& mean : means) mean /= static_cast<double>(members_);
  return means;
}

}  // namespace convoke::vote
