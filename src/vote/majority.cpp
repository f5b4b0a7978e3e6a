#include "convoke/vote/majority.hpp"

#include "vote/tally.hpp"

namespace convoke::vote {

//   elected = argmax_c  (votes(c), sum_m p(m, c), -c)  in lexicographic order
void majority(const Ballots& ballots, std::int64_t members, std::span<std::int32_t> elected) {
  assert(elected.size() == static_cast<std::size_t>(ballots.samples));
  const PerSample<double> sums = summed_probabilities(ballots, members);
  PerSample<std::int32_t> votes = PerSample<std::int32_t>::Zero(ballots.classes, ballots.samples);
  for (std::int64_t member = 0; member < members; ++member) {
    const auto probabilities = ballots_of(ballots, member);
    for (std::int64_t sample = 0; sample < ballots.samples; ++sample) {
      ++votes(first_largest(probabilities.col(sample)), sample);
    }
  }
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

}  // namespace convoke::vote
