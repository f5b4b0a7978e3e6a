#include "convoke/train/samples.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "convoke/core/text.hpp"
#include "convoke/data/deal_groups.hpp"
#include "convoke/mpi/together.hpp"

namespace convoke::train {

std::vector<std::uint32_t> all_ids(const data::Split& split) {
  std::vector<std::uint32_t> ids(static_cast<std::size_t>(split.count()));
  std::iota(ids.begin(), ids.end(), 0U);
  return ids;
}

namespace {

// The share that each member holds out of its samples.
double share_held_out(const Job& job, const DataLoaders& loaders) {
  return loaders.validation == nullptr ? job.samples.validation_split : 0;
}

data::Holdout shard_of(const Job& job, const DataLoaders& loaders, std::int64_t member) {
  return data::shard(loaders.training.split().labels, job.ensemble.shards, member, job.ensemble.members,
                     job.engine.seed, share_held_out(job, loaders), loaders.training.split().groups);
}

}  // namespace

data::Holdout samples_of(const Job& job, const DataLoaders& loaders, std::int64_t member) {
  data::Holdout ids = shard_of(job, loaders, member);
  ids.train = data::fraction_of(std::move(ids.train), job.samples.fraction, job.engine.seed);
  if (loaders.validation != nullptr) ids.validation = all_ids(loaders.validation->split());
  return ids;
}

void require_samples(const Job& job, const DataLoaders& loaders, const mpi::Communicator& world) {
  const data::Split& split = loaders.training.split();
  mpi::together(world, [&] {
    if (!world.root()) return;
    if (job.ensemble.member >= 0) {
      samples_of(job, loaders, job.ensemble.member);
    } else {
      data::require_shards(split.labels, job.ensemble.shards, job.ensemble.members, job.engine.seed,
                           share_held_out(job, loaders), job.samples.fraction, split.groups);
    }
  });
}

std::vector<std::string> group_notes(const Job& job, const DataLoaders& loaders) {
  const data::Split& split = loaders.training.split();
  if (split.groups.empty()) return {};
  const std::vector<data::SampleGroup> groups = data::sample_groups(split.groups);
  std::size_t largest = 0;
  for (const data::SampleGroup& group : groups) largest = std::max(largest, group.size());
  std::vector<std::string> notes{fmt::format("{} samples in {} groups that stay whole; the largest has {}",
                                             format_count(split.count()), format_count(std::ssize(groups)),
                                             format_count(static_cast<std::int64_t>(largest)))};
  const std::int64_t members = job.ensemble.shards == data::Sharding::kFull ? 1 : job.ensemble.members;
  const std::int64_t share = split.count() / members;
  if (members > 1 && std::cmp_greater(largest, share)) {
    notes.push_back(
        fmt::format("the largest group has {} samples, more than a member's share of {}: shards "
                    "are of unequal size",
                    format_count(static_cast<std::int64_t>(largest)), format_count(share)));
  }
  if (loaders.validation != nullptr || job.samples.validation_split == 0) return notes;
  const double asked = job.samples.validation_split * static_cast<double>(share);
  const std::int64_t held = std::ssize(shard_of(job, loaders, 0).validation);
  notes.push_back(
      fmt::format("whole groups are held out, chosen by the seed: {} samples{}, where "
                  "data.validation_split = {:g} asks for {}",
                  format_count(held), members > 1 ? " of member 0" : "", job.samples.validation_split,
                  format_count(std::llround(asked))));
  if (static_cast<double>(largest) > asked) {
    notes.push_back(
        fmt::format("the largest group has {} samples, more than the {} that "
                    "data.validation_split = {:g} asks for",
                    format_count(static_cast<std::int64_t>(largest)), format_count(std::llround(asked)),
                    job.samples.validation_split));
  }
  return notes;
}

namespace {

// Returns the ids that at least one member has in this part of its samples, in ascending order.
std::vector<std::uint32_t> ids_of_all(const Job& job, const DataLoaders& loaders,
                                      std::vector<std::uint32_t> data::Holdout::*part) {
  std::vector<bool> used(static_cast<std::size_t>(loaders.training.split().count()));
  for (std::int64_t member = 0; member < job.ensemble.members; ++member) {
    const data::Holdout ids = samples_of(job, loaders, member);
    for (const std::uint32_t id : ids.*part) used[id] = true;
  }
  std::vector<std::uint32_t> ids;
  for (std::size_t id = 0; id < used.size(); ++id) {
    if (used[id]) ids.push_back(static_cast<std::uint32_t>(id));
  }
  return ids;
}

}  // namespace

std::vector<std::uint32_t> trained_samples(const Job& job, const DataLoaders& loaders) {
  return ids_of_all(job, loaders, &data::Holdout::train);
}

CommonValidation common_validation(const Job& job, const DataLoaders& loaders) {
  if (loaders.validation != nullptr) return {*loaders.validation, all_ids(loaders.validation->split())};
  return {loaders.training, ids_of_all(job, loaders, &data::Holdout::validation)};
}

}  // namespace convoke::train
