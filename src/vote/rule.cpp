#include "convoke/vote/rule.hpp"

#include <Eigen/Core>
#include <algorithm>
#include <array>

#include "convoke/core/error.hpp"
#include "convoke/core/table.hpp"

namespace convoke::vote {
namespace {

// (classes, samples): a column per sample, contiguous as in the ballots.
template <class T>
using PerSample = Eigen::Array<T, Eigen::Dynamic, Eigen::Dynamic>;

// A view of the ballots of one member.
Eigen::Map<const PerSample<float>> ballots_of(const Ballots& ballots, std::int64_t member) {
  return {ballots.probabilities.data() + member * ballots.samples * ballots.classes, ballots.classes,
          ballots.samples};
}

// Sums over the first `members` members, in double. Sums of few members' floats are then exact, so that exact
// ties remain ties.
PerSample<double> summed_probabilities(const Ballots& ballots, std::int64_t members) {
  ensure(members >= 1 && members <= ballots.members, "all voting members have ballots");
  PerSample<double> sums = ballots_of(ballots, 0).cast<double>();
  for (std::int64_t member = 1; member < members; ++member)
    sums += ballots_of(ballots, member).cast<double>();
  return sums;
}

// Returns the place of the largest of `values` (a column), the first among equals.
template <class Column>
std::int32_t first_largest(const Column& values) {
  const auto* const begin = values.data();
  return static_cast<std::int32_t>(std::max_element(begin, begin + values.size()) - begin);
}

// Counts the votes of the first `members` members, each for its most probable class.
PerSample<std::int32_t> count_votes(const Ballots& ballots, std::int64_t members) {
  ensure(members >= 1 && members <= ballots.members, "all voting members have ballots");
  PerSample<std::int32_t> votes = PerSample<std::int32_t>::Zero(ballots.classes, ballots.samples);
  for (std::int64_t member = 0; member < members; ++member) {
    const auto probabilities = ballots_of(ballots, member);
    for (std::int64_t sample = 0; sample < ballots.samples; ++sample) {
      ++votes(first_largest(probabilities.col(sample)), sample);
    }
  }
  return votes;
}

//   elected = argmax_c  (votes(c), sum_m p(m, c), -c)  in lexicographic order
void majority(const Ballots& ballots, std::int64_t members, std::span<std::int32_t> elected) {
  ensure(elected.size() == static_cast<std::size_t>(ballots.samples), "room for the vote of each sample");
  const PerSample<double> sums = summed_probabilities(ballots, members);
  const PerSample<std::int32_t> votes = count_votes(ballots, members);
  for (std::int64_t sample = 0; sample < ballots.samples; ++sample) {
    std::int32_t best = 0;
    for (std::int32_t c = 1; c < ballots.classes; ++c) {
      const bool more = votes(c, sample) > votes(best, sample);
      const bool tied = votes(c, sample) == votes(best, sample);
      if (more || (tied && sums(c, sample) > sums(best, sample))) best = c;
    }
    elected[static_cast<std::size_t>(sample)] = best;
  }
}

//   elected = argmax_c  (votes(c), -c)
void majority_lowest(const Ballots& ballots, std::int64_t members, std::span<std::int32_t> elected) {
  ensure(elected.size() == static_cast<std::size_t>(ballots.samples), "room for the vote of each sample");
  const PerSample<std::int32_t> votes = count_votes(ballots, members);
  for (std::int64_t sample = 0; sample < ballots.samples; ++sample) {
    elected[static_cast<std::size_t>(sample)] = first_largest(votes.col(sample));
  }
}

//   elected = argmax_c  sum_m p(m, c)
void mean(const Ballots& ballots, std::int64_t members, std::span<std::int32_t> elected) {
  ensure(elected.size() == static_cast<std::size_t>(ballots.samples), "room for the vote of each sample");
  const PerSample<double> sums = summed_probabilities(ballots, members);
  for (std::int64_t sample = 0; sample < ballots.samples; ++sample) {
    elected[static_cast<std::size_t>(sample)] = first_largest(sums.col(sample));
  }
}

struct Entry {
  std::string_view name;
  Rule rule;
};

constexpr std::array kRules{
    Entry{"majority", majority},
    Entry{"majority_lowest", majority_lowest},
    Entry{"mean", mean},
};

}  // namespace

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

Rule find_rule(const std::string& name) { return find_in(kRules, name, "voting rule").rule; }

std::vector<std::string> rule_names() { return names_in(kRules); }

}  // namespace convoke::vote
