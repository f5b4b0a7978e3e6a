#include "convoke/vote/mean.hpp"

#include "vote/tally.hpp"

namespace convoke::vote {

//   elected = argmax_c  sum_m p(m, c)
void mean(const Ballots& ballots, std::int64_t members, std::span<std::int32_t> elected) {
  assert(elected.size() == static_cast<std::size_t>(ballots.samples));
  const PerSample<double> sums = summed_probabilities(ballots, members);
  for (std::int64_t sample = 0; sample < ballots.samples; ++sample) {
    elected[static_cast<std::size_t>(sample)] = first_largest(sums.col(sample));
  }
}

}  // namespace convoke::vote
