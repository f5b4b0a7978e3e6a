#include "convoke/vote/vote_counts.hpp"

#include <algorithm>

#include "convoke/core/error.hpp"

namespace convoke::vote {

std::vector<std::int32_t> labels_in(std::span<const float> ballot, std::int64_t classes) {
  std::vector<std::int32_t> labels;
  labels.reserve(ballot.size() / static_cast<std::size_t>(classes));
  for (auto row = ballot.begin(); row != ballot.end(); row += classes) {
    labels.push_back(static_cast<std::int32_t>(std::max_element(row, row + classes) - row));
  }
  return labels;
}

VoteCounts::VoteCounts(std::int64_t samples, std::int64_t classes)
    : samples_(samples),
      classes_(classes),
      votes_(static_cast<std::size_t>(samples * classes)),
      sums_(votes_.size()) {}

std::vector<std::int32_t> VoteCounts::add(std::span<const float> ballot) {
  ensure(ballot.size() == sums_.size(), "a ballot has the probabilities of each sample");
  ++members_;
  std::size_t row = 0;
  std::vector<std::int32_t> labels = labels_in(ballot, classes_);
  for (const std::int32_t label : labels) {
    ++votes_[row + static_cast<std::size_t>(label)];
    row += static_cast<std::size_t>(classes_);
  }
  for (std::size_t i = 0; i < sums_.size(); ++i) sums_[i] += static_cast<double>(ballot[i]);
  return labels;
}

std::vector<double> VoteCounts::mean_probabilities() const {
  std::vector<double> means(sums_);
  for (double& mean : means) mean /= static_cast<double>(members_);
  return means;
}

}  // namespace convoke::vote
