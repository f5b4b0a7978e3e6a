#include "convoke/supervise/stall.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "convoke/core/text.hpp"

namespace convoke::supervise {
namespace {

std::string names_of(const std::vector<int>& ranks) {
  std::vector<std::string> numbers;
  for (const int rank : ranks) numbers.push_back(std::to_string(rank));
  return (ranks.size() == 1 ? "rank " : "ranks ") + join(numbers);
}

std::string state_of(const RankLiveness& rank, bool silent) {
  if (rank.ended) return "has ended";
  if (!rank.newest) return "was never seen";
  if (!silent) return activity_text(*rank.newest);
  return fmt::format("no sign of life for {}; before: {}", format_duration(rank.silent_seconds),
                     activity_text(*rank.newest));
}

}  // namespace

std::optional<Stall> find_stall(std::span<const RankLiveness> ranks, double timeout) {
  Stall stall;
  bool all_wait = true;
  for (int rank = 0; rank < static_cast<int>(ranks.size()); ++rank) {
    const RankLiveness& liveness = ranks[static_cast<std::size_t>(rank)];
    if (liveness.ended) continue;
    if (liveness.newest && liveness.silent_seconds >= timeout) {
      stall.silent.push_back(rank);
    } else if (liveness.newest && !liveness.newest->waits_for.empty() &&
               liveness.newest->waiting_seconds >= timeout) {
      stall.waiting.push_back(rank);
    } else {
      all_wait = false;
    }
  }
  if (stall.waiting.empty() || (stall.silent.empty() && !all_wait)) return std::nullopt;
  return stall;
}

std::string to_text(const Stall& stall, std::span<const RankLiveness> ranks) {
  const auto longest = [&](const std::vector<int>& some, auto seconds) {
    double most = 0;
    for (const int rank : some) most = std::max(most, seconds(ranks[static_cast<std::size_t>(rank)]));
    return format_duration(most);
  };
  std::string text = "the job stands still: ";
  if (stall.silent.empty()) {
    text +=
        fmt::format("all ranks have waited for each other for {}",
                    longest(stall.waiting, [](const RankLiveness& r) { return r.newest->waiting_seconds; }));
  } else {
    text += fmt::format("{} {} given no sign of life for {}, and others wait", names_of(stall.silent),
                        stall.silent.size() == 1 ? "has" : "have",
                        longest(stall.silent, [](const RankLiveness& r) { return r.silent_seconds; }));
  }
  std::size_t width = 4;
  for (const RankLiveness& rank : ranks) width = std::max(width, rank.newest ? rank.newest->host.size() : 0);
  text += fmt::format("\n  {:>4}  {:<{}}  {:>8}  phase", "rank", "host", width, "step");
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    const RankLiveness& liveness = ranks[rank];
    const bool silent = std::ranges::count(stall.silent, static_cast<int>(rank)) > 0;
    text += fmt::format("\n  {:>4}  {:<{}}  {:>8}  {}", rank, liveness.newest ? liveness.newest->host : "?",
                        width, liveness.newest ? liveness.newest->step : 0, state_of(liveness, silent));
  }
  return text;
}

}  // namespace convoke::supervise
