#include "convoke/data/deal_groups.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <unordered_map>
#include <utility>

namespace convoke::data {
namespace {

/// Numbers of samples by stratum.
using Composition = std::map<std::size_t, double>;

// Returns the numbers of the groups in the order in which they are dealt.
std::vector<std::uint32_t> dealing_order(std::span<const SampleGroup> groups, const RandomKey& key) {
  std::vector<std::uint32_t> order(groups.size());
  std::iota(order.begin(), order.end(), 0U);
  shuffle(order, key);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return groups[a].size() > groups[b].size(); });
  return order;
}

Composition composition_of(const SampleGroup& group, std::span<const std::int32_t> stratum_of) {
  Composition samples;
  for (const std::size_t sample : group) ++samples[static_cast<std::size_t>(stratum_of[sample])];
  return samples;
}

Composition difference(Composition a, const Composition& b) {
  for (const auto& [c, n] : b) a[c] -= n;
  return a;
}

/// The numbers of samples in the parts, and their distance from the dues d_pc = fraction_p n_c (chi-squared):
///   sum over p and c of (n_pc - d_pc)^2 / d_pc
/// and the same for all samples together, with the mean of n_c. So small parts are filled as evenly as large
/// ones: a group goes where the part and the stratum would be filled least, relative to the due.
class PartCounts {
 public:
  PartCounts(std::span<const SampleGroup> groups, std::span<const std::int32_t> stratum_of,
             std::span<const double> fractions)
      : fractions_(fractions), dealt_(fractions.size()) {
    for (const SampleGroup& group : groups) {
      for (const std::size_t sample : group) {
        const auto stratum = static_cast<std::size_t>(stratum_of[sample]);
        if (total_.size() <= stratum) total_.resize(stratum + 1);
        ++total_[stratum];
      }
    }
    all_ = std::accumulate(total_.begin(), total_.end(), 0.0);
    const auto filled = std::count_if(total_.begin(), total_.end(), [](double n) { return n > 0; });
    mean_ = all_ / static_cast<double>(filled);
    count_.assign(fractions.size(), std::vector<double>(total_.size()));
  }

  // Returns the change of the distance if the part gets these samples; a negative number goes away.
  double change(std::size_t part, const Composition& samples) const {
    double size = 0;
    for (const auto& entry : samples) size += entry.second;
    double change = size * (size + 2 * (dealt_[part] - fractions_[part] * all_)) / mean_;
    for (const auto& [c, n] : samples) change += n * (n + 2 * (count_[part][c] - due(part, c))) / total_[c];
    return change / fractions_[part];
  }

  void add(std::size_t part, const Composition& samples, double sign = 1) {
    for (const auto& [c, n] : samples) {
      dealt_[part] += sign * n;
      count_[part][c] += sign * n;
    }
  }

  double due(std::size_t part, std::size_t stratum) const { return fractions_[part] * total_[stratum]; }
  double count(std::size_t part, std::size_t stratum) const { return count_[part][stratum]; }
  std::size_t parts() const { return fractions_.size(); }
  std::size_t strata() const { return total_.size(); }

 private:
  std::span<const double> fractions_;
  std::vector<double> total_, dealt_;       // of each stratum, of each part
  std::vector<std::vector<double>> count_;  // of each part and stratum
  double all_ = 0, mean_ = 0;
};

/// Exchanges groups between the parts of a deal.
class Exchange {
 public:
  Exchange(std::span<const SampleGroup> groups, std::span<const std::int32_t> stratum_of,
           std::span<const double> fractions, std::vector<std::size_t>& part_of)
      : counts_(groups, stratum_of, fractions),
        part_of_(part_of),
        groups_of_(counts_.strata()),
        least_(counts_.strata()) {
    for (std::size_t g = 0; g < groups.size(); ++g) {
      samples_.push_back(composition_of(groups[g], stratum_of));
      counts_.add(part_of[g], samples_[g]);
      for (const auto& [c, n] : samples_[g]) {
        groups_of_[c].push_back(g);
        least_[c] = least_[c] == 0 ? n : std::min(least_[c], n);
      }
    }
  }

  void run() {
    for (bool changed = true; changed;) {
      changed = false;
      for (std::size_t part = 0; part < counts_.parts(); ++part) {
        for (std::size_t c = 0; c < counts_.strata(); ++c)
          changed = (lacks(part, c) && supply(part, c)) || changed;
      }
    }
  }

 private:
  static constexpr std::size_t kMost = 100;  // groups that are tried on each side
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

  // True if the part has nothing of a stratum, and one group would bring it nearer to its due.
  bool lacks(std::size_t part, std::size_t stratum) const {
    return counts_.count(part, stratum) == 0 && least_[stratum] > 0 &&
           2 * counts_.due(part, stratum) >= least_[stratum];
  }

  // Gives the part, which has no group of the stratum, one for one of its own or for none: the exchange that
  // reduces the distance most. Returns false if none does. Groups of equal composition in one part are
  // equivalent.
  bool supply(std::size_t part, std::size_t stratum) {
    std::map<std::pair<std::size_t, Composition>, std::size_t> found;
    for (const std::size_t g : groups_of_[stratum]) {
      if (found.size() == kMost) break;
      found.try_emplace({part_of_[g], samples_[g]}, g);
    }
    std::map<Composition, std::size_t> own{{Composition{}, kNone}};
    for (std::size_t g = 0; g < samples_.size() && own.size() <= kMost; ++g) {
      if (part_of_[g] == part) own.try_emplace(samples_[g], g);
    }
    double best = -1e-9;  // above rounding errors, so that the exchanges end
    std::size_t taken = kNone, given = kNone;
    for (const auto& [source, g] : found) {
      for (const auto& [samples, h] : own) {
        const double change = counts_.change(part, difference(source.second, samples)) +
                              counts_.change(source.first, difference(samples, source.second));
        if (change >= best) continue;
        best = change;
        taken = g;
        given = h;
      }
    }
    if (taken == kNone) return false;
    const std::size_t other = part_of_[taken];
    move(taken, part);
    if (given != kNone) move(given, other);
    return true;
  }

  void move(std::size_t group, std::size_t part) {
    counts_.add(part_of_[group], samples_[group], -1);
    counts_.add(part, samples_[group]);
    part_of_[group] = part;
  }

  PartCounts counts_;
  std::vector<std::size_t>& part_of_;
  std::vector<Composition> samples_;                 // of each group
  std::vector<std::vector<std::size_t>> groups_of_;  // of each stratum
  std::vector<double> least_;  // of each stratum: the fewest samples in a group that has any
};

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

std::vector<std::size_t> deal_groups(std::span<const SampleGroup> groups,
                                     std::span<const std::int32_t> stratum_of,
                                     std::span<const double> fractions, const RandomKey& key) {
  PartCounts counts(groups, stratum_of, fractions);
  std::vector<std::size_t> part(groups.size());
  for (const std::uint32_t g : dealing_order(groups, key)) {
    const Composition samples = composition_of(groups[g], stratum_of);
    std::size_t best = 0;
    double least = 0;
    for (std::size_t p = 0; p < fractions.size(); ++p) {
      const double change = counts.change(p, samples);
      if (p > 0 && change >= least) continue;
      best = p;
      least = change;
    }
    counts.add(best, samples);
    part[g] = best;
  }
  return part;
}

void supply_strata(std::span<const SampleGroup> groups, std::span<const std::int32_t> stratum_of,
                   std::span<const double> fractions, std::vector<std::size_t>& part_of) {
  Exchange(groups, stratum_of, fractions, part_of).run();
}

}  // namespace convoke::data
