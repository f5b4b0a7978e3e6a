#include "convoke/train/samples.hpp"

#include <algorithm>
#include <numeric>

namespace convoke::train {

std::vector<std::uint32_t> all_ids(const data::Split& split) {
  std::vector<std::uint32_t> ids(static_cast<std::size_t>(split.count()));
  std::iota(ids.begin(), ids.end(), 0U);
  return ids;
}

data::Holdout samples_of(const Job& job, const Feed& feed, std::int64_t member) {
  data::Holdout ids = data::hold_out(
      data::shard(feed.training.split().labels, job.shards, member, job.members, job.engine.seed),
      feed.validation == nullptr ? job.validation_split : 0);
  ids.train = data::portion_of(std::move(ids.train), job.portion, job.engine.seed);
  if (feed.validation != nullptr) ids.validation = all_ids(feed.validation->split());
  return ids;
}

namespace {

enum class Use : std::uint8_t { kNone, kHeldOut, kTrained };

// The use of each training sample by all members: kTrained if one of them trains on it.
std::vector<Use> uses_of(const Job& job, const Feed& feed) {
  std::vector<Use> uses(static_cast<std::size_t>(feed.training.split().count()), Use::kNone);
  for (std::int64_t member = 0; member < job.members; ++member) {
    const data::Holdout ids = samples_of(job, feed, member);
    if (feed.validation == nullptr) {
      for (const std::uint32_t id : ids.validation) uses[id] = std::max(uses[id], Use::kHeldOut);
    }
    for (const std::uint32_t id : ids.train) uses[id] = Use::kTrained;
  }
  return uses;
}

std::vector<std::uint32_t> with_use(const std::vector<Use>& uses, Use use) {
  std::vector<std::uint32_t> ids;
  for (std::size_t id = 0; id < uses.size(); ++id) {
    if (uses[id] == use) ids.push_back(static_cast<std::uint32_t>(id));
  }
  return ids;
}

}  // namespace

std::vector<std::uint32_t> trained_samples(const Job& job, const Feed& feed) {
  return with_use(uses_of(job, feed), Use::kTrained);
}

CommonValidation common_validation(const Job& job, const Feed& feed) {
  if (feed.validation != nullptr) return {*feed.validation, all_ids(feed.validation->split())};
  return {feed.training, with_use(uses_of(job, feed), Use::kHeldOut)};
}

}  // namespace convoke::train
