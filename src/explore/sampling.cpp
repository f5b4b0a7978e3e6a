#include "convoke/explore/sampling.hpp"

#include <algorithm>
#include <numeric>
#include <unordered_set>

#include "convoke/core/random.hpp"

namespace convoke::explore {

std::vector<std::int64_t> keyed_sample(std::int64_t count, std::int64_t wanted, std::uint64_t seed,
                                       std::uint64_t draw) {
  if (wanted >= count) {
    std::vector<std::int64_t> all(static_cast<std::size_t>(count));
    std::iota(all.begin(), all.end(), 0);
    return all;
  }
  RandomStream random({seed, Purpose::kExplore, 1, draw});
  std::unordered_set<std::int64_t> taken;
  for (std::int64_t last = count - wanted; last < count; ++last) {
    const auto pick = static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(last + 1)));
    if (!taken.insert(pick).second) taken.insert(last);
  }
  std::vector<std::int64_t> chosen(taken.begin(), taken.end());
  std::sort(chosen.begin(), chosen.end());
  return chosen;
}

std::vector<Place> sample_places(std::span<const std::int64_t> sizes, std::int64_t wanted, std::uint64_t seed,
                                 std::uint64_t draw) {
  const std::int64_t count = std::accumulate(sizes.begin(), sizes.end(), std::int64_t{0});
  std::vector<Place> places;
  std::size_t split = 0;
  std::int64_t before = 0;  // samples of the splits before this one
  for (const std::int64_t number : keyed_sample(count, wanted, seed, draw)) {
    while (number - before >= sizes[split]) before += sizes[split++];
    places.push_back({split, number - before});
  }
  return places;
}

}  // namespace convoke::explore
