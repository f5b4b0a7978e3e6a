#include "convoke/vote/diversity.hpp"

#include <algorithm>
#include <functional>
#include <numeric>

#include "convoke/core/error.hpp"

namespace convoke::vote {
namespace {

std::int64_t pairs_of(std::int64_t members) { return members * (members - 1) / 2; }

}  // namespace

Disagreement::Disagreement(std::int64_t members)
    : members_(members), counts_(static_cast<std::size_t>(pairs_of(members) + 1)) {
  ensure(members >= 1, "there is a member");
}

void Disagreement::add(std::span<const std::int32_t> labels) {
  const std::size_t samples = labels.size() / static_cast<std::size_t>(members_);
  ensure(labels.size() == samples * static_cast<std::size_t>(members_),
         "a label of each member for each sample");
  const auto of = [&](std::int64_t member) {
    return labels.subspan(static_cast<std::size_t>(member) * samples, samples);
  };
  auto count = counts_.begin();
  for (std::int64_t b = 1; b < members_; ++b) {
    for (std::int64_t a = 0; a < b; ++a) {
      *count++ += std::transform_reduce(of(a).begin(), of(a).end(), of(b).begin(), std::int64_t{0},
                                        std::plus<>(), std::not_equal_to<>());
    }
  }
  *count += static_cast<std::int64_t>(samples);
}

double Disagreement::between(std::int64_t a, std::int64_t b) const {
  if (a > b) std::swap(a, b);
  if (a == b || samples() == 0) return 0;
  return static_cast<double>(counts_[static_cast<std::size_t>(pairs_of(b) + a)]) /
         static_cast<double>(samples());
}

double Disagreement::mean(std::int64_t members) const {
  ensure(members >= 1 && members <= members_, "these members have voted");
  const std::int64_t pairs = pairs_of(members);
  if (pairs == 0 || samples() == 0) return 0;
  const std::int64_t differ = std::accumulate(counts_.begin(), counts_.begin() + pairs, std::int64_t{0});
  return static_cast<double>(differ) / static_cast<double>(pairs) / static_cast<double>(samples());
}

}  // namespace convoke::vote
