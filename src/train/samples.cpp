#include "convoke/train/samples.hpp"

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

CommonValidation common_validation(const Job& job, const Feed& feed) {
  if (feed.validation != nullptr) return {*feed.validation, all_ids(feed.validation->split())};
  enum class Use : std::uint8_t { kNone, kHeldOut, kTrained };
  std::vector<Use> uses(static_cast<std::size_t>(feed.training.split().count()), Use::kNone);
  for (std::int64_t member = 0; member < job.members; ++member) {
    const data::Holdout ids = samples_of(job, feed, member);
    for (const std::uint32_t id : ids.validation) {
      if (uses[id] == Use::kNone) uses[id] = Use::kHeldOut;
    }
    for (const std::uint32_t id : ids.train) uses[id] = Use::kTrained;
  }
  CommonValidation common{feed.training, {}};
  for (std::size_t id = 0; id < uses.size(); ++id) {
    if (uses[id] == Use::kHeldOut) common.ids.push_back(static_cast<std::uint32_t>(id));
  }
  return common;
}

}  // namespace convoke::train
