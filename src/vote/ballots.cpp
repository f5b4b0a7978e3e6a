#include "convoke/vote/ballots.hpp"

#include "vote/tally.hpp"

namespace convoke::vote {

std::vector<std::int32_t> member_labels(const Ballots& ballots) {
  std::vector<std::int32_t> labels;
  labels.reserve(static_cast<std::size_t>(ballots.members * ballots.samples));
  for (std::int64_t member = 0; member < ballots.members; ++member) {
    const auto probabilities = ballots_of(ballots, member);
    for (std::int64_t sample = 0; sample < ballots.samples; ++sample) {
      labels.push_back(first_largest(probabilities.col(sample)));
    }
  }
  return labels;
}

std::vector<double> mean_probabilities(const Ballots& ballots) {
  const PerSample<double> means =
      summed_probabilities(ballots, ballots.members) / static_cast<double>(ballots.members);
  return {means.data(), means.data() + means.size()};
}

}  // namespace convoke::vote
