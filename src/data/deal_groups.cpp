#include "convoke/data/deal_groups.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <unordered_map>

namespace convoke::data {
namespace {

// Returns the numbers of the groups in the order in which they are dealt.
std::vector<std::uint32_t> dealing_order(std::span<const SampleGroup> groups, const RandomKey& key) {
  std::vector<std::uint32_t> order(groups.size());
  std::iota(order.begin(), order.end(), 0U);
  shuffle(order, key);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return groups[a].size() > groups[b].size(); });
  return order;
}

}  // namespace

std::vector<SampleGroup> sample_groups(std::span<const std::int32_t> groups) {
  std::vector<SampleGroup> samples;
  std::unordered_map<std::int32_t, std::size_t> place;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const auto [found, is_first] = place.try_emplace(groups[i], samples.size());
    if (is_first) samples.emplace_back();
    samples[found->second].push_back(i);
  }
  return samples;
}

// A group with g_c samples of stratum c goes to the part p that minimizes
//   sum over c of ((n_pc + g_c - d_pc)^2 - (n_pc - d_pc)^2) / n_c ,   d_pc = fraction_p n_c
// and the same for all samples together, divided by the mean of n_c.
std::vector<std::size_t> deal_groups(std::span<const SampleGroup> groups,
                                     std::span<const std::int32_t> stratum_of,
                                     std::span<const double> fractions, const RandomKey& key) {
  const auto stratum = [&](std::size_t sample) { return static_cast<std::size_t>(stratum_of[sample]); };
  std::vector<double> total;
  for (const SampleGroup& group : groups) {
    for (const std::size_t sample : group) {
      if (total.size() <= stratum(sample)) total.resize(stratum(sample) + 1);
      ++total[stratum(sample)];
    }
  }
  const double all = std::accumulate(total.begin(), total.end(), 0.0);
  const auto filled = std::count_if(total.begin(), total.end(), [](double n) { return n > 0; });
  const double mean = all / static_cast<double>(filled);
  std::vector<std::vector<double>> count(fractions.size(), std::vector<double>(total.size()));
  std::vector<double> dealt(fractions.size());
  std::vector<std::size_t> part(groups.size());
  for (const std::uint32_t g : dealing_order(groups, key)) {
    const auto size = static_cast<double>(groups[g].size());
    std::map<std::size_t, double> of_stratum;
    for (const std::size_t sample : groups[g]) ++of_stratum[stratum(sample)];
    std::size_t best = 0;
    double least = 0;
    for (std::size_t p = 0; p < fractions.size(); ++p) {
      double change = size * (size + 2 * (dealt[p] - fractions[p] * all)) / mean;
      for (const auto& [c, n] : of_stratum)
        change += n * (n + 2 * (count[p][c] - fractions[p] * total[c])) / total[c];
      if (p > 0 && change >= least) continue;
      best = p;
      least = change;
    }
    dealt[best] += size;
    for (const auto& [c, n] : of_stratum) count[best][c] += n;
    part[g] = best;
  }
  return part;
}

}  // namespace convoke::data
