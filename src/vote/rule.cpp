#include "convoke/vote/rule.hpp"

#include <algorithm>
#include <array>
#include <span>

#include "convoke/core/error.hpp"
#include "convoke/core/table.hpp"

namespace convoke::vote {
namespace {

// Returns the place of the largest value, the first among equals.
template <class T>
std::int32_t first_largest(std::span<const T> values) {
  return static_cast<std::int32_t>(std::max_element(values.begin(), values.end()) - values.begin());
}

//   elected = argmax_c  (votes(c), sum_m p(m, c), -c)  in lexicographic order
std::int32_t majority(const VoteCounts& counts, std::int64_t sample) {
  const std::span<const std::int32_t> votes = counts.votes(sample);
  const std::span<const double> sums = counts.probabilities(sample);
  std::size_t best = 0;
  for (std::size_t c = 1; c < votes.size(); ++c) {
    if (votes[c] > votes[best] || (votes[c] == votes[best] && sums[c] > sums[best])) best = c;
  }
  return static_cast<std::int32_t>(best);
}

//   elected = argmax_c  (votes(c), -c)
std::int32_t majority_lowest(const VoteCounts& counts, std::int64_t sample) {
  return first_largest(counts.votes(sample));
}

//   elected = argmax_c  sum_m p(m, c)
std::int32_t mean(const VoteCounts& counts, std::int64_t sample) {
  return first_largest(counts.probabilities(sample));
}

constexpr std::array kRules{
    Named<Rule>{"majority", majority},
    Named<Rule>{"majority_lowest", majority_lowest},
    Named<Rule>{"mean", mean},
};

}  // namespace

std::vector<std::int32_t> labels_in(std::span<const float> predictions, std::int64_t classes) {
  std::vector<std::int32_t> labels;
  labels.reserve(predictions.size() / static_cast<std::size_t>(classes));
  const auto row = static_cast<std::size_t>(classes);
  for (; !predictions.empty(); predictions = predictions.subspan(row))
    labels.push_back(first_largest(predictions.first(row)));
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

Rule find_rule(const std::string& name) { return find_in(kRules, name, "voting rule").value; }

std::vector<std::string> rule_names() { return names_in(kRules); }

std::vector<std::int32_t> elect(Rule rule, const VoteCounts& counts) {
  std::vector<std::int32_t> elected;
  elected.reserve(static_cast<std::size_t>(counts.samples()));
  for (std::int64_t sample = 0; sample < counts.samples(); ++sample) elected.push_back(rule(counts, sample));
  return elected;
}

}  // namespace convoke::vote
