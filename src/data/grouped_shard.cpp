#include "grouped_shard.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "convoke/core/error.hpp"
#include "convoke/core/random.hpp"
#include "convoke/data/deal_groups.hpp"

namespace convoke::data {
namespace {

using Groups = std::vector<SampleGroup>;
using Ids = std::vector<std::uint32_t>;

// Addresses of random numbers (RandomKey::epoch): 0 and 1 belong to shards without groups.
constexpr std::uint32_t kToMembers = 2, kToHoldOut = 3;

Ids ids_in(const Groups& groups) {
  Ids ids;
  for (const SampleGroup& group : groups) ids.insert(ids.end(), group.begin(), group.end());
  std::sort(ids.begin(), ids.end());
  return ids;
}

Groups groups_of_part(const Groups& groups, std::span<const std::size_t> part_of, std::size_t part) {
  Groups mine;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    if (part_of[g] == part) mine.push_back(groups[g]);
  }
  return mine;
}

// Returns the member of each group.
std::vector<std::size_t> members_of(const Groups& groups, std::span<const std::int32_t> labels,
                                    Sharding sharding, std::int64_t members, std::uint64_t seed) {
  const std::vector<std::int32_t> alike(labels.size());
  const std::vector<double> fractions(static_cast<std::size_t>(members), 1 / static_cast<double>(members));
  return deal_groups(groups, sharding == Sharding::kStratified ? labels : alike, fractions,
                     {seed, Purpose::kShard, kToMembers, 0});
}

Groups share_of(const Groups& groups, std::span<const std::size_t> member_of, std::int64_t member,
                std::int64_t members) {
  Groups mine = groups_of_part(groups, member_of, static_cast<std::size_t>(member));
  if (!mine.empty()) return mine;
  throw Error(fmt::format("{} groups of samples cannot be shared among {} members, so that each gets some",
                          groups.size(), members),
              "use fewer members, or ensemble.shards = \"full\"");
}

// Moves whole groups, about this fraction of the samples, from `groups` to the result: at least one, and not
// all.
Groups hold_out(Groups& groups, std::span<const std::int32_t> labels, double fraction, std::uint64_t seed) {
  if (fraction == 0) return {};
  if (groups.size() < 2) {
    throw Error(fmt::format("a validation split of {:g} cannot hold samples out: all {} are in one group",
                            fraction, groups.empty() ? 0 : groups.front().size()),
                "name a validation split of its own (data.validation_split), use fewer members, or prepare "
                "the data with other groups");
  }
  std::vector<std::size_t> part_of = deal_groups(groups, labels, std::vector{1 - fraction, fraction},
                                                 {seed, Purpose::kShard, kToHoldOut, 0});
  // A part that would be empty gets the smallest group.
  const auto smallest = std::ranges::min_element(groups, {}, &SampleGroup::size) - groups.begin();
  for (const std::size_t part : {std::size_t{0}, std::size_t{1}}) {
    if (std::ranges::find(part_of, part) == part_of.end()) part_of[static_cast<std::size_t>(smallest)] = part;
  }
  Groups held = groups_of_part(groups, part_of, 1);
  groups = groups_of_part(groups, part_of, 0);
  return held;
}

// The last group is left out if the number of draws is nearer without it.
Ids draw(const Groups& groups, std::size_t draws, std::int64_t member, std::uint64_t seed) {
  RandomStream random({seed, Purpose::kShard, 0, static_cast<std::uint64_t>(member)});
  Ids drawn;
  while (drawn.size() < draws) {
    const SampleGroup& group = groups[random.below(groups.size())];
    if (!drawn.empty() && drawn.size() + group.size() / 2 > draws) break;
    drawn.insert(drawn.end(), group.begin(), group.end());
  }
  return drawn;
}

}  // namespace

Holdout grouped_shard(std::span<const std::int32_t> labels, std::span<const std::int32_t> groups,
                      Sharding sharding, std::int64_t member, std::int64_t members, std::uint64_t seed,
                      double held, std::int64_t draws) {
  Groups mine = sample_groups(groups);
  if (deals_to_members(sharding))
    mine = share_of(mine, members_of(mine, labels, sharding, members, seed), member, members);
  Holdout parts;
  parts.validation = ids_in(hold_out(mine, labels, held, seed));
  parts.train = sharding == Sharding::kBootstrap ? draw(mine, static_cast<std::size_t>(draws), member, seed)
                                                 : ids_in(mine);
  return parts;
}

void require_grouped_shards(std::span<const std::int32_t> labels, std::span<const std::int32_t> groups,
                            Sharding sharding, std::int64_t members, std::uint64_t seed, double held,
                            double fraction) {
  const Groups all = sample_groups(groups);
  const std::vector<std::size_t> member_of = members_of(all, labels, sharding, members, seed);
  for (std::int64_t member = 0; member < members; ++member) {
    Groups mine = share_of(all, member_of, member, members);
    hold_out(mine, labels, held, seed);
    fraction_of(ids_in(mine), fraction, seed);
  }
}

}  // namespace convoke::data
