#include "convoke/train/samples.hpp"

#include <numeric>

namespace convoke::train {

std::vector<std::uint32_t> all_ids(const data::Split& split) {
  std::vector<std::uint32_t> ids(static_cast<std::size_t>(split.count()));
  std::iota(ids.begin(), ids.end(), 0U);
  return ids;
}

data::Holdout samples_of(const Job& job, const Feed& feed, std::int64_t member) {
  data::Holdout ids = data::shard(feed.training.split().labels, job.shards, member, job.members,
                                  job.engine.seed, feed.validation == nullptr ? job.validation_split : 0);
  ids.train = data::portion_of(std::move(ids.train), job.portion, job.engine.seed);
  if (feed.validation != nullptr) ids.validation = all_ids(feed.validation->split());
  return ids;
}

namespace {

// Returns the ids that at least one member has in this part of its samples, in ascending order.
std::vector<std::uint32_t> ids_of_all(const Job& job, const Feed& feed,
                                      std::vector<std::uint32_t> data::Holdout::*part) {
  std::vector<bool> used(static_cast<std::size_t>(feed.training.split().count()));
  for (std::int64_t member = 0; member < job.members; ++member) {
    const data::Holdout ids = samples_of(job, feed, member);
    for (const std::uint32_t id : ids.*part) used[id] = true;
  }
  std::vector<std::uint32_t> ids;
  for (std::size_t id = 0; id < used.size(); ++id) {
    if (used[id]) ids.push_back(static_cast<std::uint32_t>(id));
  }
  return ids;
}

}  // namespace

std::vector<std::uint32_t> trained_samples(const Job& job, const Feed& feed) {
  return ids_of_all(job, feed, &data::Holdout::train);
}

CommonValidation common_validation(const Job& job, const Feed& feed) {
  if (feed.validation != nullptr) return {*feed.validation, all_ids(feed.validation->split())};
  return {feed.training, ids_of_all(job, feed, &data::Holdout::validation)};
}

}  // namespace convoke::train
