#include "convoke/engine/gradient_verification.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "convoke/core/checksum.hpp"
#include "convoke/core/text.hpp"
#include "convoke/os/environment.hpp"

namespace convoke::engine {

std::uint64_t digest_of(std::span<const float> values) {
  const std::span<const std::byte> bytes = std::as_bytes(values);
  return std::uint64_t{crc32(bytes)} << 32 | crc32c(bytes);
}

std::vector<int> wrong_ranks(std::span<const std::vector<std::uint64_t>> results) {
  std::map<std::uint64_t, std::size_t> counts;
  std::size_t all = 0;
  for (const std::vector<std::uint64_t>& rank : results) {
    for (const std::uint64_t result : rank) ++counts[result];
    all += rank.size();
  }
  const auto most = std::ranges::max_element(counts, {}, [](const auto& entry) { return entry.second; });
  std::vector<int> wrong;
  if (most == counts.end() || 2 * most->second <= all) return wrong;
  for (std::size_t rank = 0; rank < results.size(); ++rank) {
    const bool agrees =
        std::ranges::all_of(results[rank], [&](auto result) { return result == most->first; });
    if (!agrees) wrong.push_back(static_cast<int>(rank));
  }
  return wrong;
}

GradientVerification::Check GradientVerification::check_of(std::int64_t step, std::int64_t micro_batches,
                                                           const MicroBatchShares& shares) const {
  const std::int64_t round = step / every_ - 1;
  Check check{.step = step, .micro_batch = round % micro_batches};
  for (int rank = 0; rank < group_.size(); ++rank) {
    const MicroBatchRange range = shares.micro_batches(micro_batches, rank);
    if (check.micro_batch >= range.first && check.micro_batch < range.first + range.count) check.owner = rank;
  }
  if (group_.size() == 1) return check;
  const auto others = static_cast<std::int64_t>(group_.size() - 1);
  check.checker = static_cast<int>((check.owner + 1 + round / micro_batches % others) % group_.size());
  return check;
}

void GradientVerification::run(const Check& check, std::uint64_t first,
                               const std::function<std::uint64_t()>& again) {
  std::uint64_t mine = group_.rank() == check.owner ? first : 0;
  std::uint64_t second = mpi::together(group_, [&] { return group_.rank() == check.checker ? again() : 0; });
  if (group_.size() > 1) {
    if (group_.rank() == check.checker) mine = second;
    const std::vector<std::uint64_t> all = mpi::all_gather(group_, mine);
    first = all[static_cast<std::size_t>(check.owner)];
    second = all[static_cast<std::size_t>(check.checker)];
  }
  if (first != second) blame(check, first, second, again);
  good_ = check.step;
}

void GradientVerification::blame(const Check& check, std::uint64_t first, std::uint64_t second,
                                 const std::function<std::uint64_t()>& again) const {
  const std::vector<std::uint64_t> third = mpi::all_gather(group_, mpi::together(group_, again));
  std::vector<std::vector<std::uint64_t>> results;
  for (const std::uint64_t result : third) results.push_back({result});
  results[static_cast<std::size_t>(check.owner)].push_back(first);
  results[static_cast<std::size_t>(check.checker)].push_back(second);
  const std::vector<std::string> hosts = group_.gather(os::host_name());
  std::string message;
  if (group_.root()) {
    const auto name = [&](int rank) {
      return fmt::format("rank {} (host {})", rank, hosts[static_cast<std::size_t>(rank)]);
    };
    const std::string pair =
        check.owner == check.checker
            ? fmt::format("{} computed micro-batch {} twice", name(check.owner), check.micro_batch)
            : fmt::format("{} and {} both computed micro-batch {}", name(check.owner), name(check.checker),
                          check.micro_batch);
    std::vector<std::string> wrong;
    for (const int rank : wrong_ranks(results)) wrong.push_back(name(rank));
    message = fmt::format("silent data corruption: in step {}, {}, and the gradients differ; {}. {}",
                          check.step, pair,
                          wrong.empty() ? "no majority tells which one is wrong"
                                        : fmt::format("the other results show that {} {} wrong",
                                                      join(wrong, " and "), wrong.size() == 1 ? "is" : "are"),
                          good_ == 0 ? "No step was verified before"
                                     : fmt::format("Step {} was the last one without a difference", good_));
  }
  throw SilentCorruption(
      group_.broadcast(std::move(message)),
      "check the memory, the cooling and the clock of the host, and leave it out; then continue from a "
      "checkpoint before that step with convoke train --resume RUN");
}

}  // namespace convoke::engine
