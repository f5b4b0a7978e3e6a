#include "convoke/data_prep/splits.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>
#include <numeric>

#include "convoke/core/csv.hpp"
#include "convoke/core/error.hpp"
#include "convoke/core/random.hpp"
#include "convoke/core/text.hpp"
#include "convoke/data/deal_groups.hpp"

namespace convoke::data_prep {
namespace {

// Orders train, validation, test, then the others by name.
bool precedes(const std::string& a, const std::string& b) {
  const auto place = [](const std::string& name) {
    return std::find(kUsualSplits.begin(), kUsualSplits.end(), name) - kUsualSplits.begin();
  };
  return std::pair(place(a), a) < std::pair(place(b), b);
}

void shuffle_keyed(std::vector<std::size_t>& values, const RandomKey& key) {
  std::vector<std::uint32_t> order(values.size());
  std::iota(order.begin(), order.end(), 0U);
  shuffle(order, key);
  const std::vector<std::size_t> before = values;
  std::transform(order.begin(), order.end(), values.begin(), [&](std::uint32_t i) { return before[i]; });
}

SplitAssignment splits_of_source(const Catalog& catalog) {
  SplitAssignment splits{.names = {}, .of_item = {}, .rule = "the source's own"};
  for (const Item& item : catalog.items) {
    if (!item.fault.empty()) continue;
    if (item.split.empty()) {
      throw Error(fmt::format("{}: is in no split, but other samples are", item.name),
                  "assign all samples with --split train=0.8,test=0.2");
    }
    if (std::find(splits.names.begin(), splits.names.end(), item.split) == splits.names.end())
      splits.names.push_back(item.split);
  }
  std::sort(splits.names.begin(), splits.names.end(), precedes);
  for (const Item& item : catalog.items) {
    const auto it = std::find(splits.names.begin(), splits.names.end(), item.split);
    splits.of_item.push_back(item.fault.empty() ? static_cast<std::int32_t>(it - splits.names.begin())
                                                : SplitAssignment::kNone);
  }
  return splits;
}

/// Items that are drawn together: those of a group, or one item.
using Unit = data::SampleGroup;

// Returns the groups of the items without a fault, in the order of their first items.
std::vector<Unit> units_of(const Catalog& catalog, const Groups& groups) {
  constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();
  std::vector<Unit> units;
  std::vector<std::size_t> unit_of_first(catalog.items.size(), kNone);
  for (std::size_t i = 0; i < catalog.items.size(); ++i) {
    if (!catalog.items[i].fault.empty()) continue;
    std::size_t& unit = unit_of_first[groups.first_of(i)];
    if (unit == kNone) {
      unit = units.size();
      units.emplace_back();
    }
    units[unit].push_back(i);
  }
  return units;
}

bool are_groups(const std::vector<Unit>& units) {
  return std::any_of(units.begin(), units.end(), [](const Unit& unit) { return unit.size() > 1; });
}

// Distributes the items over `fractions.size()` parts.
class Dealer {
 public:
  Dealer(const Catalog& catalog, const SplitOptions& options, std::vector<double> fractions)
      : catalog_(catalog), options_(options), fractions_(std::move(fractions)) {}

  std::vector<std::int32_t> deal(const std::vector<Unit>& units) {
    std::vector<std::int32_t> part(catalog_.items.size(), SplitAssignment::kNone);
    if (are_groups(units)) {
      deal_groups(units, part);
    } else {
      deal_classes(units, part);
    }
    return part;
  }

 private:
  std::size_t strata() const { return options_.stratified ? static_cast<std::size_t>(catalog_.classes) : 1; }
  std::size_t stratum(std::size_t item) const {
    return options_.stratified ? static_cast<std::size_t>(catalog_.items[item].label) : 0;
  }

  // Shuffles and cuts each class. Rounding errors of a part in one class carry over to the next classes, so
  // that many small classes do not all round the same way.
  void deal_classes(const std::vector<Unit>& units, std::vector<std::int32_t>& part) const {
    std::vector<std::vector<std::size_t>> members(strata());
    for (const Unit& unit : units) members[stratum(unit[0])].push_back(unit[0]);
    std::vector<double> due(fractions_.size());
    for (std::size_t c = 0; c < members.size(); ++c) {
      shuffle_keyed(members[c], {options_.seed, Purpose::kSplit, 0, c});
      auto next = members[c].begin();
      const std::vector<std::size_t> counts = cut(members[c].size(), due);
      for (std::size_t p = 0; p < counts.size(); ++p) {
        for (std::size_t i = 0; i < counts[p]; ++i) part[*next++] = static_cast<std::int32_t>(p);
      }
    }
  }

  // Returns how many of n each part gets: its share, rounded down; one more goes to those with the most due.
  std::vector<std::size_t> cut(std::size_t n, std::vector<double>& due) const {
    constexpr double kRounding = 1e-9;  // 0.1 + 0.1 + ... may be slightly below 1
    std::vector<std::size_t> counts(fractions_.size()), order(fractions_.size());
    std::size_t left = n;
    for (std::size_t p = 0; p < counts.size(); ++p) {
      const double share = static_cast<double>(n) * fractions_[p];
      counts[p] = std::min(left, static_cast<std::size_t>(share + kRounding));
      left -= counts[p];
      due[p] += share - static_cast<double>(counts[p]);
    }
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) { return due[a] > due[b]; });
    for (std::size_t i = 0; left > 0; ++i, --left) {
      ++counts[order[i % order.size()]];
      --due[order[i % order.size()]];
    }
    return counts;
  }

  void deal_groups(const std::vector<Unit>& units, std::vector<std::int32_t>& part) const {
    std::vector<std::int32_t> stratum_of;
    for (std::size_t i = 0; i < catalog_.items.size(); ++i)
      stratum_of.push_back(static_cast<std::int32_t>(stratum(i)));
    std::vector<std::size_t> part_of =
        data::deal_groups(units, stratum_of, fractions_, {options_.seed, Purpose::kSplit, 0, 0});
    data::supply_strata(units, stratum_of, fractions_, part_of);
    for (std::size_t u = 0; u < units.size(); ++u) {
      for (const std::size_t item : units[u]) part[item] = static_cast<std::int32_t>(part_of[u]);
    }
  }

  const Catalog& catalog_;
  const SplitOptions& options_;
  std::vector<double> fractions_;
};

SplitAssignment by_folds(const Catalog& catalog, const std::vector<Unit>& units,
                         const SplitOptions& options) {
  const auto folds = static_cast<std::size_t>(options.folds);
  Dealer dealer(catalog, options, std::vector<double>(folds, 1.0 / static_cast<double>(folds)));
  SplitAssignment splits{.names = {"train", "test"}, .of_item = dealer.deal(units), .rule = {}};
  for (std::int32_t& part : splits.of_item) {
    if (part != SplitAssignment::kNone) part = part + 1 == options.fold ? 1 : 0;
  }
  splits.rule = fmt::format("fold {} of {}", options.fold, options.folds);
  return splits;
}

SplitAssignment by_parts(const Catalog& catalog, const std::vector<Unit>& units, const SplitOptions& options,
                         const std::vector<SplitPart>& parts) {
  SplitAssignment splits;
  std::vector<double> fractions;
  std::vector<std::string> words;
  for (const SplitPart& part : parts) {
    splits.names.push_back(part.name);
    fractions.push_back(part.fraction);
    words.push_back(fmt::format("{}={:g}", part.name, part.fraction));
  }
  splits.of_item = Dealer(catalog, options, std::move(fractions)).deal(units);
  splits.rule = join(words);
  return splits;
}

void expect_no_empty_split(const SplitAssignment& splits) {
  for (std::size_t s = 0; s < splits.names.size(); ++s) {
    if (std::find(splits.of_item.begin(), splits.of_item.end(), static_cast<std::int32_t>(s)) ==
        splits.of_item.end()) {
      throw Error(fmt::format("split \"{}\" would have no sample ({})", splits.names[s], splits.rule),
                  "give it a larger fraction, leave it out, or form smaller groups (--group, --group-by)");
    }
  }
}

}  // namespace

std::vector<SplitPart> split_parts_from(const std::string& text) {
  const auto refuse = [&](const std::string& why) {
    throw Error(fmt::format("--split {}: {}", text, why),
                "write for example train=0.8,validation=0.1,test=0.1");
  };
  std::vector<SplitPart> parts;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const std::string word = text.substr(begin, end - begin);
    begin = end + 1;
    const std::size_t equals = word.find('=');
    SplitPart part{canonical_split(trimmed(word.substr(0, equals)))};
    const std::string number = equals == std::string::npos ? "" : trimmed(word.substr(equals + 1));
    part.fraction = parse_number<double>(number).value_or(0);
    if (part.name.empty() || !(part.fraction > 0 && part.fraction <= 1))
      refuse(fmt::format("\"{}\" is not NAME=FRACTION with a fraction between 0 and 1", word));
    if (std::any_of(parts.begin(), parts.end(), [&](const SplitPart& p) { return p.name == part.name; }))
      refuse(fmt::format("\"{}\" is given twice", part.name));
    parts.push_back(std::move(part));
  }
  double sum = 0;
  for (const SplitPart& part : parts) sum += part.fraction;
  if (std::abs(sum - 1) > 1e-6) refuse(fmt::format("the fractions sum to {:g}, not 1", sum));
  return parts;
}

std::size_t SplitAssignment::training() const {
  const auto it = std::find(names.begin(), names.end(), "train");
  return it == names.end() ? 0 : static_cast<std::size_t>(it - names.begin());
}

std::vector<std::size_t> SplitAssignment::items(std::size_t split) const {
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < of_item.size(); ++i) {
    if (of_item[i] == static_cast<std::int32_t>(split)) found.push_back(i);
  }
  return found;
}

bool draws_splits(const Catalog& catalog, const SplitOptions& options) {
  return options.draw() || std::none_of(catalog.items.begin(), catalog.items.end(), [](const Item& item) {
           return item.fault.empty() && !item.split.empty();
         });
}

SplitAssignment assign_splits(const Catalog& catalog, const Groups& groups, const SplitOptions& options) {
  SplitAssignment splits;
  if (draws_splits(catalog, options)) {
    const std::vector<Unit> units = units_of(catalog, groups);
    const std::vector<SplitPart> usual{{"train", 0.8}, {"test", 0.2}};
    splits = options.folds > 0
                 ? by_folds(catalog, units, options)
                 : by_parts(catalog, units, options, options.parts.empty() ? usual : options.parts);
    splits.rule += options.stratified ? ", stratified" : "";
    if (are_groups(units)) splits.rule += fmt::format(", by {} groups", format_count(std::ssize(units)));
    splits.rule += fmt::format(", seed {}", options.seed);
  } else {
    splits = splits_of_source(catalog);
  }
  expect_no_empty_split(splits);
  return splits;
}

void expect_whole_groups(const Catalog& catalog, const Groups& groups, const SplitAssignment& splits,
                         const std::string& where) {
  for (std::size_t i = 0; i < catalog.items.size(); ++i) {
    const std::size_t first = groups.first_of(i);
    if (splits.of_item[i] == SplitAssignment::kNone || splits.of_item[first] == SplitAssignment::kNone ||
        splits.of_item[i] == splits.of_item[first])
      continue;
    const Item &one = catalog.items[first], &other = catalog.items[i];
    throw Error(fmt::format("{}: its splits part a group: {} is in \"{}\", and {} in \"{}\"", where, one.name,
                            one.split, other.name, other.split),
                "draw splits that keep groups together, for example with --split train=0.8,test=0.2; or name "
                "no groups");
  }
}

bool lies_by_class(const Catalog& catalog, const std::vector<std::size_t>& items) {
  // A run is a sequence of neighbors of one class. In random order, n samples of classes of n_k have about
  //   1 + n - sum_k n_k^2 / n   runs.
  std::map<std::int32_t, double> samples;
  std::size_t runs = 0;
  for (std::size_t i = 0; i < items.size(); ++i) {
    const std::int32_t label = catalog.items[items[i]].label;
    samples[label] += 1;
    runs += i == 0 || label != catalog.items[items[i - 1]].label;
  }
  const auto n = static_cast<double>(items.size());
  double random_runs = 1 + n;
  for (const auto& [label, count] : samples) random_runs -= count * count / n;
  constexpr double kFewer = 8;
  return runs < items.size() && (runs == samples.size() || kFewer * static_cast<double>(runs) < random_runs);
}

void shuffle_items(std::vector<std::size_t>& items, std::uint64_t seed, std::size_t split) {
  shuffle_keyed(items, {seed, Purpose::kOrder, 0, split});
}

}  // namespace convoke::data_prep
