#include "convoke/vote/diversity.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <utility>

#include "convoke/core/error.hpp"

namespace convoke::vote {
namespace {

std::int64_t pairs_of(std::int64_t members) { return members * (members - 1) / 2; }

double ratio(double a, double b) { return b == 0 ? 0 : a / b; }

}  // namespace

Diversity::Diversity(std::int64_t members)
    : members_(members), counts_(static_cast<std::size_t>(pairs_of(members)) * kCounts + 1) {
  ensure(members >= 1, "there is a member");
}

void Diversity::add(std::span<const std::int32_t> labels, std::span<const std::int32_t> truth) {
  const std::size_t samples = truth.size();
  ensure(labels.size() == samples * static_cast<std::size_t>(members_),
         "a label of each member for each sample");
  const auto of = [&](std::int64_t member) {
    return labels.subspan(static_cast<std::size_t>(member) * samples, samples);
  };
  auto count = counts_.begin();
  for (std::int64_t b = 1; b < members_; ++b) {
    for (std::int64_t a = 0; a < b; ++a, count += kCounts) {
      const std::span<const std::int32_t> says_a = of(a), says_b = of(b);
      Pair found{};
      for (std::size_t i = 0; i < samples; ++i) {
        const bool a_right = says_a[i] == truth[i], b_right = says_b[i] == truth[i];
        found[0] += says_a[i] != says_b[i] ? 1 : 0;
        found[1] += a_right && b_right ? 1 : 0;
        found[2] += a_right && !b_right ? 1 : 0;
        found[3] += b_right && !a_right ? 1 : 0;
      }
      std::transform(found.begin(), found.end(), count, count, std::plus<>());
    }
  }
  *count += static_cast<std::int64_t>(samples);
}

Diversity::Pair Diversity::pair(std::int64_t a, std::int64_t b) const {
  const auto [first, last] = std::minmax(a, b);
  const auto begin = counts_.begin() + (pairs_of(last) + first) * static_cast<std::int64_t>(kCounts);
  Pair counts;
  std::copy_n(begin, kCounts, counts.begin());
  return counts;
}

double Diversity::disagreement(std::int64_t a, std::int64_t b) const {
  return a == b ? 0 : ratio(static_cast<double>(pair(a, b)[0]), static_cast<double>(samples()));
}

double Diversity::disagreement() const {
  std::int64_t differ = 0;
  for (std::int64_t b = 1; b < members_; ++b) {
    for (std::int64_t a = 0; a < b; ++a) differ += pair(a, b)[0];
  }
  return ratio(ratio(static_cast<double>(differ), static_cast<double>(pairs_of(members_))),
               static_cast<double>(samples()));
}

//   Q = (N11 N00 - N01 N10) / (N11 N00 + N01 N10),   Nab: samples that a and b predict right (1) or wrong (0)
double Diversity::q_statistic(std::int64_t a, std::int64_t b) const {
  if (a == b) return 1;
  const auto [differ, both, only_a, only_b] = pair(a, b);
  const std::int64_t neither = samples() - both - only_a - only_b;
  const double alike = static_cast<double>(both) * static_cast<double>(neither);
  const double unlike = static_cast<double>(only_a) * static_cast<double>(only_b);
  return (alike - unlike) / (alike + unlike);
}

double Diversity::q_statistic() const {
  double sum = 0;
  std::int64_t defined = 0;
  for (std::int64_t b = 1; b < members_; ++b) {
    for (std::int64_t a = 0; a < b; ++a) {
      const double q = q_statistic(a, b);
      if (std::isnan(q)) continue;
      sum += q;
      ++defined;
    }
  }
  return defined == 0 ? std::numeric_limits<double>::quiet_NaN() : sum / static_cast<double>(defined);
}

}  // namespace convoke::vote
