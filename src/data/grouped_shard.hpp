#pragma once
#include <cstdint>
#include <span>

#include "convoke/data/epoch_plan.hpp"

// shard() for samples in groups.

namespace convoke::data {

/// True if each member gets samples of its own.
inline bool deals_to_members(Sharding sharding) {
  return sharding == Sharding::kContiguous || sharding == Sharding::kStratified;
}

/// Returns the samples of a member, of which groups lie in one part as a whole: deal_groups() gives them to
/// the members, by class if stratified, and then to the samples that train and those that are held out, by
/// class. Bootstrap: whole groups are drawn with replacement, until there are about `draws` samples, from
/// those that are not held out (a share of `held` of all samples, the same for all members). Otherwise `held`
/// is a share of the member's samples. At least one group is held out if `held` > 0. Throws Error if there
/// are too few groups.
Holdout grouped_shard(std::span<const std::int32_t> labels, std::span<const std::int32_t> groups,
                      Sharding sharding, std::int64_t member, std::int64_t members, std::uint64_t seed,
                      double held, std::int64_t draws);

/// Throws the Error of grouped_shard(), or of fraction_of() for its samples to train, for any of the members
/// of a contiguous or stratified sharding. Deals the groups once for all.
void require_grouped_shards(std::span<const std::int32_t> labels, std::span<const std::int32_t> groups,
                            Sharding sharding, std::int64_t members, std::uint64_t seed, double held,
                            double fraction);

}  // namespace convoke::data
