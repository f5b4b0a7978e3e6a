#include "convoke/train/groups.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "convoke/core/error.hpp"
#include "convoke/core/text.hpp"

namespace convoke::train {

namespace {

Groups split_as_listed(const mpi::Communicator& world, std::int64_t members,
                       std::span<const std::int64_t> ranks) {
  const std::int64_t all = std::accumulate(ranks.begin(), ranks.end(), std::int64_t{0});
  if (all != world.size()) {
    throw Error(fmt::format("the groups of ensemble.ranks have {}, but the job has {}", counted(all, "rank"),
                            world.size()),
                fmt::format("start {}, or change the list so that its sum is {}", counted(all, "rank"),
                            world.size()));
  }
  if (std::ssize(ranks) > members) {
    throw Error(fmt::format("ensemble.ranks has {} groups, but the ensemble has {}", ranks.size(),
                            counted(members, "member")),
                "list at most as many groups as members");
  }
  std::int64_t mine = 0, end = ranks[0];
  while (world.rank() >= end) end += ranks[static_cast<std::size_t>(++mine)];
  const bool equal = std::ranges::all_of(ranks, [&](std::int64_t count) { return count == ranks[0]; });
  return {members, std::ssize(ranks), mine, world.split(static_cast<int>(mine), world.rank()), equal};
}

}  // namespace

std::int64_t group_of(std::int64_t rank, std::int64_t ranks, std::int64_t groups) {
  return rank * groups / ranks;
}

Groups split(const mpi::Communicator& world, std::int64_t members, std::span<const std::int64_t> ranks) {
  if (!ranks.empty()) return split_as_listed(world, members, ranks);
  const std::int64_t groups = std::min<std::int64_t>(members, world.size());
  const std::int64_t mine = group_of(world.rank(), world.size(), groups);
  return {members, groups, mine, groups == 1 ? world : world.split(static_cast<int>(mine), world.rank())};
}

Groups only(const mpi::Communicator& world, std::int64_t member, std::int64_t members) {
  if (member < 0 || member >= members) {
    throw Error(fmt::format("there is no member {} of {}", member, members),
                fmt::format("members are counted from 0 to {}", members - 1));
  }
  return {members, members, member, world};
}

data::EpochPlan plan_epoch(const Job& job, const Assignment& assignment, const data::BatchLoader& loader,
                           std::int64_t epoch) {
  const auto number = static_cast<std::uint32_t>(epoch);
  if (job.samples.sampling == data::Sampling::kBalanced) {
    return data::EpochPlan::balanced(assignment.training, loader.split().labels, assignment.seed, number,
                                     job.engine.batch);
  }
  return {assignment.training, assignment.seed, number, job.engine.batch, job.shuffle};
}

}  // namespace convoke::train
