#include "convoke/data/epoch_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>

#include "convoke/core/error.hpp"
#include "convoke/core/random.hpp"
#include "convoke/core/table.hpp"
#include "grouped_shard.hpp"

namespace convoke::data {
namespace {

using Ids = std::vector<std::uint32_t>;

Ids range(std::int64_t first, std::int64_t last) {
  Ids ids(static_cast<std::size_t>(last - first));
  std::iota(ids.begin(), ids.end(), static_cast<std::uint32_t>(first));
  return ids;
}

// Deals the samples out like cards, sorted by class: member m gets positions m, m + M, m + 2M, ... Thus each
// class and the whole are even to within one sample. Ids ascend.
Ids stratified(std::span<const std::int32_t> labels, std::int64_t member, std::int64_t members) {
  Ids by_class = range(0, static_cast<std::int64_t>(labels.size()));
  std::stable_sort(by_class.begin(), by_class.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return labels[a] < labels[b]; });
  Ids mine;
  for (auto i = static_cast<std::size_t>(member); i < by_class.size();
       i += static_cast<std::size_t>(members)) {
    mine.push_back(by_class[i]);
  }
  std::sort(mine.begin(), mine.end());
  return mine;
}

// Draws `draws` of the ids with replacement.
Ids bootstrap(const Ids& ids, std::size_t draws, std::int64_t member, std::uint64_t seed) {
  RandomStream random({seed, Purpose::kShard, 0, static_cast<std::uint64_t>(member)});
  Ids drawn(draws);
  for (std::uint32_t& id : drawn) id = ids[random.below(ids.size())];
  return drawn;
}

// Returns the number of samples that train.
std::size_t count_kept(std::size_t samples, double fraction) {
  if (!(fraction >= 0 && fraction < 1)) {
    throw Error(fmt::format("the validation split must be at least 0 and below 1, not {}", fraction));
  }
  const auto kept = static_cast<std::size_t>(std::floor(static_cast<double>(samples) * (1.0 - fraction)));
  if (kept == 0) {
    throw Error(fmt::format("a validation split of {} leaves none of {} samples to train", fraction, samples),
                "use a smaller split, fewer members, or more samples");
  }
  return kept;
}

// Holds out the last `fraction` of the ids.
Holdout hold_out(Ids ids, double fraction) {
  const std::size_t kept = count_kept(ids.size(), fraction);
  Holdout parts;
  parts.validation.assign(ids.begin() + static_cast<std::ptrdiff_t>(kept), ids.end());
  ids.resize(kept);
  parts.train = std::move(ids);
  return parts;
}

// Holds out first, and draws from the rest: else most samples held out would also have been drawn to train.
Holdout bootstrap_shard(std::int64_t samples, std::int64_t share, std::int64_t member, std::uint64_t seed,
                        double fraction) {
  const std::size_t draws = count_kept(static_cast<std::size_t>(share), fraction);
  Ids ids = range(0, samples);
  const auto pool = ids.end() - (share - static_cast<std::int64_t>(draws));
  if (pool != ids.end()) {
    convoke::shuffle(ids, {seed, Purpose::kShard, 1, 0});
    std::sort(ids.begin(), pool);
    std::sort(pool, ids.end());
  }
  Holdout parts;
  parts.validation.assign(pool, ids.end());
  ids.erase(pool, ids.end());
  parts.train = bootstrap(ids, draws, member, seed);
  return parts;
}

// Shuffles the chunks of neighbors in the file (random numbers 0 of the epoch), then the samples of each
// window w of a few chunks (numbers 1 + w). Ids drawn by a bootstrap are sorted first.
void shuffle_chunks(Ids& ids, const Shuffle& shuffle, std::uint64_t seed, std::uint32_t epoch) {
  std::sort(ids.begin(), ids.end());
  const auto chunk = static_cast<std::size_t>(shuffle.chunk),
             window = static_cast<std::size_t>(shuffle.window);
  Ids chunks((ids.size() + chunk - 1) / chunk);
  std::iota(chunks.begin(), chunks.end(), 0U);
  convoke::shuffle(chunks, {seed, Purpose::kShuffle, epoch, 0});
  Ids order;
  order.reserve(ids.size());
  for (const std::uint32_t c : chunks) {
    const std::size_t first = c * chunk;
    order.insert(order.end(), ids.begin() + static_cast<std::ptrdiff_t>(first),
                 ids.begin() + static_cast<std::ptrdiff_t>(std::min(first + chunk, ids.size())));
  }
  for (std::size_t first = 0; first < order.size(); first += window) {
    convoke::shuffle(std::span(order).subspan(first, std::min(window, order.size() - first)),
                     {seed, Purpose::kShuffle, epoch, 1 + first / window});
  }
  ids = std::move(order);
}

}  // namespace

Holdout shard(std::span<const std::int32_t> labels, Sharding sharding, std::int64_t member,
              std::int64_t members, std::uint64_t seed, double validation,
              std::span<const std::int32_t> groups) {
  ensure(member >= 0 && member < members && labels.size() <= std::numeric_limits<std::uint32_t>::max(),
         "a member of the ensemble, and samples that 32 bits can number");
  const auto samples = static_cast<std::int64_t>(labels.size());
  if (samples == 0 || (sharding != Sharding::kFull && samples < members)) {
    throw Error(fmt::format("{} samples cannot be shared among {} members", samples, members),
                "use fewer members, or ensemble.shards = \"full\"");
  }
  const std::int64_t share = samples / members;
  if (!groups.empty()) {
    ensure(groups.size() == labels.size(), "a group for each sample");
    const std::size_t kept =
        count_kept(static_cast<std::size_t>(sharding == Sharding::kFull ? samples : share), validation);
    const bool draws = sharding == Sharding::kBootstrap;
    return grouped_shard(labels, groups, sharding, member, members, seed,
                         draws ? validation / static_cast<double>(members) : validation,
                         static_cast<std::int64_t>(kept));
  }
  switch (sharding) {
    case Sharding::kContiguous:
      return hold_out(range(member * share, member + 1 == members ? samples : (member + 1) * share),
                      validation);
    case Sharding::kStratified:
      return hold_out(stratified(labels, member, members), validation);
    case Sharding::kBootstrap:
      return bootstrap_shard(samples, share, member, seed, validation);
    case Sharding::kFull:
      break;
  }
  return hold_out(range(0, samples), validation);
}

Ids fraction_of(Ids ids, double fraction, std::uint64_t seed) {
  ensure(fraction > 0 && fraction <= 1, "a fraction is above 0 and at most 1");
  if (fraction == 1) return ids;
  constexpr double kRounding = 1e-6;  // 0.29 of 100 is 28.999... in binary
  const auto kept =
      static_cast<std::size_t>(std::floor(static_cast<double>(ids.size()) * fraction + kRounding));
  if (kept == 0) {
    throw Error(fmt::format("a fraction of {} leaves none of {} samples to train", fraction, ids.size()),
                "use a larger data.fraction, fewer members, or more samples");
  }
  Ids places = range(0, static_cast<std::int64_t>(ids.size()));
  convoke::shuffle(places, {seed, Purpose::kFraction, 0, 0});
  places.resize(kept);
  std::sort(places.begin(), places.end());
  for (std::size_t i = 0; i < kept; ++i) ids[i] = ids[places[i]];  // places[i] >= i
  ids.resize(kept);
  return ids;
}

void require_shards(std::span<const std::int32_t> labels, Sharding sharding, std::int64_t members,
                    std::uint64_t seed, double validation, double fraction,
                    std::span<const std::int32_t> groups) {
  if (deals_to_members(sharding) && !groups.empty())
    return require_grouped_shards(labels, groups, sharding, members, seed, validation, fraction);
  for (const std::int64_t member : {std::int64_t{0}, members - 1})  // these have shards of all sizes
    fraction_of(shard(labels, sharding, member, members, seed, validation, groups).train, fraction, seed);
}

Shuffle Shuffle::chunks(std::int64_t sample_bytes, std::int64_t window_bytes, std::int64_t chunk_bytes) {
  Shuffle shuffle;
  shuffle.chunk = std::max<std::int64_t>(1, chunk_bytes / sample_bytes);
  shuffle.window = shuffle.chunk * std::max<std::int64_t>(1, window_bytes / (shuffle.chunk * sample_bytes));
  return shuffle;
}

EpochPlan::EpochPlan(std::span<const std::uint32_t> ids, std::uint64_t seed, std::uint32_t epoch,
                     std::int64_t batch, Shuffle shuffle)
    : order_(ids.begin(), ids.end()), batch_(batch), window_(shuffle.on ? shuffle.window : 0) {
  ensure(batch > 0, "a batch has samples");
  if (shuffle.on && shuffle.chunk == 0) convoke::shuffle(order_, {seed, Purpose::kShuffle, epoch, 0});
  if (shuffle.on && shuffle.chunk > 0) shuffle_chunks(order_, shuffle, seed, epoch);
  count_repeats();
}

EpochPlan EpochPlan::balanced(std::span<const std::uint32_t> ids, std::span<const std::int32_t> labels,
                              std::uint64_t seed, std::uint32_t epoch, std::int64_t batch) {
  return EpochPlan(balanced_epoch(ids, labels, seed, epoch), seed, epoch, batch);
}

// Up to 16 runs of neighboring micro-batches are placed in the order of their numbers, read from the last bit
// to the first.
void EpochPlan::bucket_by_length(std::span<const std::int32_t> lengths, std::int64_t micro_batch) {
  const auto reversed = [](std::uint32_t number) {
    std::uint32_t result = 0;
    for (int bit = 0; bit < 32; ++bit, number >>= 1) result = result << 1 | (number & 1);
    return result;
  };
  for (std::int64_t step = 0; step < steps(); ++step) {
    const auto first = order_.begin() + step * batch_;
    Ids sorted(first, first + std::ssize(this->step(step)));
    std::ranges::stable_sort(sorted, {}, [&](std::uint32_t id) { return lengths[id]; });
    const std::int64_t run = micro_batch * std::max<std::int64_t>(1, std::ssize(sorted) / micro_batch / 16);
    Ids runs = range(0, std::ssize(sorted) / run);
    std::ranges::sort(runs, {}, reversed);
    auto to = first;
    for (const std::uint32_t i : runs) to = std::copy_n(sorted.begin() + i * run, run, to);
    std::copy(sorted.begin() + std::ssize(runs) * run, sorted.end(), to);
  }
  repeats_.clear();
  count_repeats();
}

void EpochPlan::count_repeats() {
  if (order_.empty()) return;
  std::vector<std::uint32_t> seen(std::size_t{1} + *std::max_element(order_.begin(), order_.end()));
  bool any = false;
  repeats_.reserve(order_.size());
  for (const std::uint32_t id : order_) {
    any = any || seen[id] > 0;
    repeats_.push_back(seen[id]++);
  }
  if (!any) repeats_ = {};
}

std::int64_t EpochPlan::steps() const {
  return (static_cast<std::int64_t>(order_.size()) + batch_ - 1) / batch_;
}

std::span<const std::uint32_t> EpochPlan::step(std::int64_t step) const {
  ensure(step >= 0 && step < steps(), "a step of the epoch");
  const auto first = static_cast<std::size_t>(step * batch_);
  return std::span(order_).subspan(first, std::min(static_cast<std::size_t>(batch_), order_.size() - first));
}

std::span<const std::uint32_t> EpochPlan::repeats(std::int64_t step) const {
  if (repeats_.empty()) return {};
  return std::span(repeats_).subspan(static_cast<std::size_t>(step * batch_), this->step(step).size());
}

std::vector<double> balanced_class_weights(std::span<const std::int32_t> labels, std::int64_t classes) {
  std::vector<std::int64_t> counts(static_cast<std::size_t>(classes));
  for (const std::int32_t label : labels) ++counts[static_cast<std::size_t>(label)];
  std::vector<double> weights;
  for (std::size_t k = 0; k < counts.size(); ++k) {
    if (counts[k] == 0) {
      throw Error(fmt::format("class {} has no training sample, so no weight balances it", k),
                  "give class weights as a list, or a dataset without that class");
    }
    weights.push_back(static_cast<double>(labels.size()) / static_cast<double>(classes * counts[k]));
  }
  return weights;
}

std::vector<std::uint32_t> balanced_epoch(std::span<const std::uint32_t> ids,
                                          std::span<const std::int32_t> labels, std::uint64_t seed,
                                          std::uint32_t epoch) {
  std::map<std::int32_t, std::vector<std::uint32_t>> by_class;
  for (const std::uint32_t id : ids) by_class[labels[id]].push_back(id);
  const std::uint64_t classes = by_class.size(), share = ids.size() / classes, rest = ids.size() % classes;
  std::vector<std::uint32_t> chosen;
  chosen.reserve(ids.size());
  std::uint64_t place = 0;  // number of the class among the classes that occur
  for (const auto& [label, members] : by_class) {
    // Earlier epochs used at most share + 1 places each; where they used fewer, a few samples are skipped
    // once.
    const std::uint64_t turn = (place + classes - (epoch * rest) % classes) % classes;
    const std::uint64_t count = share + (turn < rest ? 1 : 0);
    const std::uint64_t first = epoch * (share + (rest > 0 ? 1 : 0));
    std::vector<std::uint32_t> order;
    for (std::uint64_t i = first; i < first + count; ++i) {
      const std::uint64_t round = i / members.size(), at = i % members.size();
      if (order.empty() || at == 0) {
        order = members;
        shuffle(order, {seed, Purpose::kShuffle, static_cast<std::uint32_t>(round),
                        std::uint64_t{1} + static_cast<std::uint64_t>(label)});
      }
      chosen.push_back(order[at]);
    }
    ++place;
  }
  return chosen;
}

}  // namespace convoke::data
