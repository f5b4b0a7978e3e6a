#pragma once
#include <Eigen/Core>
#include <algorithm>
#include <cassert>
#include <cstdint>

#include "convoke/vote/ballots.hpp"

namespace convoke::vote {

/// (classes, samples): a column per sample, contiguous as in the ballots.
template <class T>
using PerSample = Eigen::Array<T, Eigen::Dynamic, Eigen::Dynamic>;

/// The ballots of one member. A view.
inline Eigen::Map<const PerSample<float>> ballots_of(const Ballots& ballots, std::int64_t member) {
  return {ballots.probabilities.data() + member * ballots.samples * ballots.classes, ballots.classes,
          ballots.samples};
}

/// Sums over the first `members` members, in double: sums of few members' floats are then exact, so that what
/// ties on paper ties here.
inline PerSample<double> summed_probabilities(const Ballots& ballots, std::int64_t members) {
  assert(members >= 1 && members <= ballots.members);
  PerSample<double> sums = ballots_of(ballots, 0).cast<double>();
  for (std::int64_t member = 1; member < members; ++member)
    sums += ballots_of(ballots, member).cast<double>();
  return sums;
}

/// The place of the largest of `values` (a column), the first among equals.
template <class Column>
std::int32_t first_largest(const Column& values) {
  const auto* const begin = values.data();
  return static_cast<std::int32_t>(std::max_element(begin, begin + values.size()) - begin);
}

}  // namespace convoke::vote
