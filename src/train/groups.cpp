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

// Returns the length of each text without the padding before and after it.
std::vector<std::int32_t> lengths_of(const data::Split& split) {
  const bool streamed = split.stream != nullptr;
  if (streamed || split.type() != data::SampleType::kInt32) {
    throw Error(fmt::format("data.bucket_by_length needs tokens in memory, but the samples are {}",
                            streamed ? "streamed" : "no tokens"),
                streamed ? "raise data.memory, or leave bucket_by_length out" : "leave bucket_by_length out");
  }
  const std::span<const std::int32_t> tokens = split.values<std::int32_t>();
  const std::size_t width = split.count() == 0 ? 0 : tokens.size() / static_cast<std::size_t>(split.count());
  std::vector<std::int32_t> lengths;
  for (std::size_t at = 0; at < tokens.size(); at += width) {
    const auto text = tokens.subspan(at, width);
    const auto is_word = [](std::int32_t token) { return token != 0; };
    const auto first = std::ranges::find_if(text, is_word);
    const auto last = std::find_if(text.rbegin(), text.rend(), is_word).base();
    lengths.push_back(first == text.end() ? 0 : static_cast<std::int32_t>(last - first));
  }
  return lengths;
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
  const bool balanced = job.samples.sampling == data::Sampling::kBalanced;
  data::EpochPlan plan =
      balanced ? data::EpochPlan::balanced(assignment.training, loader.split().labels, assignment.seed,
                                           number, job.engine.batch)
               : data::EpochPlan(assignment.training, assignment.seed, number, job.engine.batch, job.shuffle);
  if (job.samples.bucket_by_length) plan.bucket_by_length(lengths_of(loader.split()), job.engine.micro_batch);
  return plan;
}

}  // namespace convoke::train
