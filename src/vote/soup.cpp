#include "convoke/vote/soup.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "convoke/core/error.hpp"
#include "convoke/core/table.hpp"

namespace convoke::vote {
namespace {

std::vector<double> equal_shares(std::size_t members) {
  return std::vector<double>(members, 1.0 / static_cast<double>(members));
}

//   share_m = 1 / M
std::vector<double> uniform(std::span<const double> accuracies, const Trial&) {
  return equal_shares(accuracies.size());
}

//   share_m = accuracy_m / sum_k accuracy_k
std::vector<double> weighted(std::span<const double> accuracies, const Trial&) {
  std::vector<double> shares(accuracies.begin(), accuracies.end());
  for (double& share : shares) share = std::isnan(share) ? 0 : share;
  const double sum = std::accumulate(shares.begin(), shares.end(), 0.0);
  if (sum == 0) return equal_shares(shares.size());
  for (double& share : shares) share /= sum;
  return shares;
}

// Wortsman et al., recipe 1.
std::vector<double> greedy(std::span<const double> accuracies, const Trial& trial) {
  std::vector<std::size_t> order(accuracies.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto known = [&](std::size_t m) { return std::isnan(accuracies[m]) ? -1 : accuracies[m]; };
  std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return known(a) > known(b); });

  std::vector<std::size_t> joined;
  const auto shares_with = [&](std::size_t candidate) {
    std::vector<double> shares(accuracies.size());
    const double share = 1.0 / static_cast<double>(joined.size() + 1);
    for (const std::size_t m : joined) shares[m] = share;
    shares[candidate] = share;
    return shares;
  };
  std::vector<double> best;
  double best_accuracy = 0;
  for (const std::size_t candidate : order) {
    std::vector<double> shares = shares_with(candidate);
    const double accuracy = trial(shares);
    if (!joined.empty() && !(accuracy >= best_accuracy)) continue;
    joined.push_back(candidate);
    best = std::move(shares);
    best_accuracy = accuracy;
  }
  return best;
}

struct SoupEntry {
  std::string_view name;
  Soup soup;
  SoupNeeds needs;
};

constexpr std::array kSoups{
    SoupEntry{"uniform", uniform, SoupNeeds::kNothing},
    SoupEntry{"weighted", weighted, SoupNeeds::kAccuracies},
    SoupEntry{"greedy", greedy, SoupNeeds::kTrials},
};

}  // namespace

Soup find_soup(const std::string& name) { return find_in(kSoups, name, "soup").soup; }

SoupNeeds needs_of_soup(const std::string& name) { return find_in(kSoups, name, "soup").needs; }

std::vector<std::string> soup_names() { return names_in(kSoups); }

}  // namespace convoke::vote
