#include "convoke/study/analysis/comparison.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace convoke::study {
namespace {

// Accuracies, or times, of different samples are not comparable. An unknown dataset counts as equal.
bool are_of_one_dataset(const MeasuredConfiguration& a, const MeasuredConfiguration& b) {
  return a.dataset_hash().empty() || b.dataset_hash().empty() || a.dataset_hash() == b.dataset_hash();
}

// Returns the one coordinate in which two configurations differ; "" if there is none or several. Recipes that
// differ only in their mode count as one coordinate: mnist-ensemble and mnist-sync.
std::string_view difference(const Coordinates& a, const Coordinates& b) {
  if (a.fraction != b.fraction) return "";
  const bool system = a.system != b.system, mode = a.mode != b.mode;
  // Keys of ensembles have no meaning in another mode: a group's variant contains its members.
  const bool variant = mode ? variant_of_work(a) != variant_of_work(b) : a.variant != b.variant;
  const std::array<std::pair<std::string_view, bool>, 9> differ{{{"system", system && !mode},
                                                                 {"mode", mode && !system},
                                                                 {"system and mode", system && mode},
                                                                 {"ranks", a.ranks != b.ranks},
                                                                 {"threads", a.threads != b.threads},
                                                                 {"batch", a.batch != b.batch},
                                                                 {"variant", variant},
                                                                 {"machine", a.machine != b.machine},
                                                                 {"emulated", a.emulated != b.emulated}}};
  std::string_view found;
  for (const auto& [name, is] : differ) {
    if (is && !found.empty()) return "";
    if (is) found = name;
  }
  return found;
}

// False if another configuration with a value of the quantity lies between the two in ranks or in threads.
bool are_neighbors(const Coordinates& a, const Coordinates& b, std::string_view varies,
                   std::string_view quantity, std::span<const MeasuredConfiguration> configurations) {
  if (varies != "ranks" && varies != "threads") return true;
  const auto place = [&](const Coordinates& at) { return varies == "ranks" ? at.ranks : at.threads; };
  const auto [low, high] = std::minmax({place(a), place(b)});
  return std::ranges::none_of(configurations, [&](const MeasuredConfiguration& configuration) {
    return place(configuration.at) > low && place(configuration.at) < high &&
           configuration.find(quantity) != nullptr && difference(a, configuration.at) == varies;
  });
}

// The most variants of one configuration that are all compared with each other: the pairs of 400 would be a
// table of 80,000 lines for each quantity.
constexpr std::size_t kComparedVariants = 32;

// Returns for each configuration the first configuration that differs only in its variant, if they are more
// than kComparedVariants; otherwise the number of configurations. The recipe without changes comes first.
std::vector<std::size_t> baselines(std::span<const MeasuredConfiguration> configurations) {
  std::vector<std::size_t> first(configurations.size()), count(configurations.size(), 0);
  for (std::size_t c = 0; c < configurations.size(); ++c) {
    std::size_t of = 0;
    while (of < c &&
           (first[of] != of || difference(configurations[of].at, configurations[c].at) != "variant"))
      ++of;
    first[c] = of;
    ++count[of];
  }
  for (std::size_t& of : first) of = count[of] > kComparedVariants ? of : configurations.size();
  return first;
}

// Equal scores do not show how much scores scatter: the runs may have one seed, or few test samples.
std::optional<WelchTest> test_of_scores(const Statistics& a, const Statistics& b) {
  if (a.mean != b.mean && (a.is_constant() || b.is_constant())) return {};
  return welch_test(a, b);
}

bool has_accuracy_and_cost(const MeasuredConfiguration& configuration) {
  const Statistics* cost = configuration.find("core_seconds");
  return configuration.find("accuracy") != nullptr && cost != nullptr && cost->mean > 0;
}

constexpr double kEqual = 1.05;  // core-seconds within this factor count as equal

// Returns, among the configurations for which `is` holds, the most accurate one that costs at most about
// `core_seconds`; if all cost more, the cheapest. configurations.size() if there is none.
template <class Predicate>
std::size_t best_sync_configuration(std::span<const MeasuredConfiguration> configurations,
                                    double core_seconds, Predicate is) {
  std::size_t best = configurations.size();
  const auto is_better = [&](const MeasuredConfiguration& candidate) {
    if (best == configurations.size()) return true;
    const double ours = candidate.find("core_seconds")->mean,
                 its = configurations[best].find("core_seconds")->mean;
    const bool equal = ours <= kEqual * core_seconds, its_equal = its <= kEqual * core_seconds;
    if (equal != its_equal) return equal;
    return equal ? candidate.find("accuracy")->at_least() > configurations[best].find("accuracy")->at_least()
                 : ours < its;
  };
  for (std::size_t s = 0; s < configurations.size(); ++s) {
    if (configurations[s].at.mode == "sync" && has_accuracy_and_cost(configurations[s]) &&
        is(configurations[s]) && is_better(configurations[s])) {
      best = s;
    }
  }
  return best;
}

std::string described(const MeasuredConfiguration& configuration) {
  const Statistics* makespan = configuration.find("makespan_seconds");
  return fmt::format("{} ({:.2f} % in {}{:.4g} core-seconds)",
                     marked(to_string(configuration.at), configuration.marks),
                     100 * configuration.find("accuracy")->mean,
                     makespan == nullptr ? "" : fmt::format("{:.3g} s, ", makespan->mean),
                     configuration.find("core_seconds")->mean);
}

}  // namespace

std::vector<Comparison> comparisons(std::span<const MeasuredConfiguration> configurations) {
  std::vector<Comparison> all;
  const std::vector<std::size_t> baseline = baselines(configurations);
  for (const std::string_view quantity : {"makespan_seconds", "epoch_seconds", "accuracy"}) {
    std::vector<double> p;
    const std::size_t begin = all.size();
    for (std::size_t a = 0; a < configurations.size(); ++a) {
      for (std::size_t b = a + 1; b < configurations.size(); ++b) {
        const Statistics *x = configurations[a].find(quantity), *y = configurations[b].find(quantity);
        const std::string_view varies = difference(configurations[a].at, configurations[b].at);
        if (x == nullptr || y == nullptr || varies.empty()) continue;
        if (varies == "variant" && baseline[a] < a) continue;
        if (!are_of_one_dataset(configurations[a], configurations[b])) continue;
        if (!are_neighbors(configurations[a].at, configurations[b].at, varies, quantity, configurations))
          continue;
        if (const auto test = quantity == "accuracy" ? test_of_scores(*x, *y) : welch_test(*x, *y)) {
          all.push_back({a, b, std::string(varies), std::string(quantity), *test, 1});
          p.push_back(test->p);
        }
      }
    }
    const std::vector<double> adjusted = holm(p);
    for (std::size_t i = 0; i < adjusted.size(); ++i) all[begin + i].p_holm = adjusted[i];
  }
  return all;
}

std::vector<EqualCost> at_equal_cost(std::span<const MeasuredConfiguration> configurations) {
  std::vector<EqualCost> verdicts;
  for (std::size_t e = 0; e < configurations.size(); ++e) {
    const MeasuredConfiguration& ensemble = configurations[e];
    const bool votes = ensemble.at.mode == "ensemble" || ensemble.at.mode == "groups";
    if (!votes || !has_accuracy_and_cost(ensemble)) continue;
    const double cost = ensemble.find("core_seconds")->mean;
    const auto same_work = [&](const MeasuredConfiguration& configuration) {
      return configuration.at.fraction == ensemble.at.fraction &&
             configuration.at.machine == ensemble.at.machine && are_of_one_dataset(configuration, ensemble) &&
             variant_of_work(configuration.at) == variant_of_work(ensemble.at);
    };
    std::size_t best =
        best_sync_configuration(configurations, cost, [&](const MeasuredConfiguration& configuration) {
          return same_work(configuration) && configuration.at.system == ensemble.at.system;
        });
    if (best == configurations.size()) best = best_sync_configuration(configurations, cost, same_work);
    if (best == configurations.size()) continue;
    EqualCost verdict{.ensemble = e, .sync = best, .core_seconds_ratio = 1, .difference = 0};
    verdict.core_seconds_ratio = configurations[best].find("core_seconds")->mean / cost;
    const Statistics &x = *ensemble.find("accuracy"), &y = *configurations[best].find("accuracy");
    verdict.difference = x.mean - y.mean;
    verdict.test = test_of_scores(x, y);
    if (!verdict.test) {
      verdict.better = "unknown";
    } else if (verdict.test->p < 0.05) {
      verdict.better = verdict.difference > 0                 ? "ensemble"
                       : verdict.core_seconds_ratio <= kEqual ? "sync"
                                                              : "dearer";
    }
    verdicts.push_back(std::move(verdict));
  }
  return verdicts;
}

std::string sentence(const EqualCost& v, std::span<const MeasuredConfiguration> configurations) {
  const bool ensemble_first = v.difference >= 0;
  const double points = 100 * (ensemble_first ? v.difference : -v.difference);
  std::string text =
      fmt::format("{} against {}: ", described(configurations[ensemble_first ? v.ensemble : v.sync]),
                  described(configurations[ensemble_first ? v.sync : v.ensemble]));
  if (!v.test) {
    text += fmt::format(
        "{:.2f} points more, but one has a single run, or runs of equal accuracy: no test is possible",
        points);
  } else {
    const Interval by =
        ensemble_first ? v.test->interval : Interval{-v.test->interval.high, -v.test->interval.low};
    text += fmt::format("{:.2f} points more (95 % interval {:.2f} to {:.2f}){}", points, 100 * by.low,
                        100 * by.high, v.better.empty() ? ", which is not significant" : "");
  }
  if (v.core_seconds_ratio > kEqual) {
    text += fmt::format(
        "; no synchronous configuration is equally cheap: this one takes {:.2f} times the core-seconds",
        v.core_seconds_ratio);
  }
  return text + ".";
}

}  // namespace convoke::study
