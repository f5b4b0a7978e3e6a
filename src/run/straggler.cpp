#include "convoke/run/straggler.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <ranges>
#include <string_view>
#include <utility>
#include <vector>

#include "convoke/mpi/together.hpp"
#include "convoke/os/clock.hpp"

namespace convoke::run {
namespace {

constexpr double kLeastExcess = 0.05, kLeastExposed = 0.10, kSlowLink = 2, kFaster = 0.8;
constexpr std::string_view kSamples = "samples";
constexpr int kLinkRounds = 10;
constexpr std::size_t kLinkBytes = std::size_t{64} << 10;

// The lower one of two, so that one slow rank of two is seen.
double lower_median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

template <class Value>
double median_of(std::span<const RankTimes> ranks, const Value& value) {
  std::vector<double> values;
  for (const RankTimes& rank : ranks) values.push_back(std::invoke(value, rank));
  return lower_median(std::move(values));
}

// The time in which the main thread could have computed, but had no core or waited for a disk.
double without_core(const RankTimes& rank) { return rank.compute() * (1 - rank.core_share); }

double compute_per_sample(const RankTimes& rank) {
  return rank.samples > 0 ? rank.compute() / rank.samples : 0;
}

// A cause that would add `seconds` to the steps of a rank, compared with the median rank.
struct Suspect {
  std::string_view cause;
  double seconds;
  std::string evidence;
};

std::vector<Suspect> suspects_of(const RankTimes& slow, std::span<const RankTimes> ranks) {
  const double data = median_of(ranks, &RankTimes::data), samples = median_of(ranks, &RankTimes::samples),
               passes = median_of(ranks, &RankTimes::passes), lost = median_of(ranks, without_core),
               compute = median_of(ranks, &RankTimes::compute);
  double clock = median_of(ranks, &RankTimes::clock_ghz);
  if (slow.clock_ghz <= 0) clock = 0;
  return {
      {"data", slow.data - data,
       fmt::format("assembling its samples took {:.2f} s, {:.2f} s on the median rank", slow.data, data)},
      {kSamples, samples > 0 ? compute * (slow.samples / samples - 1) : 0,
       fmt::format("it processed {:.0f} samples, the median rank {:.0f}", slow.samples, samples)},
      {"other programs", without_core(slow) - lost,
       fmt::format("its main thread had no core for {:.2f} s, {:.2f} s on the median rank",
                   without_core(slow), lost)},
      {"clock frequency", clock > 0 ? passes * (clock / slow.clock_ghz - 1) : 0,
       fmt::format("its core ran at {:.2f} GHz, that of the median rank at {:.2f} GHz", slow.clock_ghz,
                   clock)},
  };
}

double ping_pong(int there, const mpi::Communicator& world, bool answers) {
  std::vector<std::byte> message(kLinkBytes);
  double best = std::numeric_limits<double>::infinity();
  for (int round = 0; round <= kLinkRounds; ++round) {
    const os::Stopwatch watch;
    if (answers) world.receive(message, there, mpi::Tag::kStragglerLink);
    world.send(message, there, mpi::Tag::kStragglerLink);
    if (!answers) world.receive(message, there, mpi::Tag::kStragglerLink);
    if (round > 0) best = std::min(best, watch.seconds() / 2);  // the first round opens the connection
  }
  return best;
}

}  // namespace

std::optional<Straggler> find_straggler(std::span<const RankTimes> ranks) {
  if (ranks.size() < 2) return std::nullopt;
  const auto slow = std::max_element(ranks.begin(), ranks.end(), [](const RankTimes& a, const RankTimes& b) {
    return a.compute() < b.compute();
  });
  const double median = median_of(ranks, &RankTimes::compute), excess = slow->compute() - median;
  const double steps = median_of(ranks, &RankTimes::steps);
  if (steps <= 0 || excess < kLeastExcess * steps) return std::nullopt;
  Straggler found{
      .rank = static_cast<int>(slow - ranks.begin()),
      .cause = "compute",
      .excess = excess / steps,
      .evidence = fmt::format("its forward and backward passes took {:.2f} s, {:.2f} s on the median rank",
                              slow->passes(), median_of(ranks, &RankTimes::passes))};
  const std::vector<Suspect> suspects = suspects_of(*slow, ranks);
  const auto cause = std::find_if(suspects.begin(), suspects.end(),
                                  [&](const Suspect& suspect) { return suspect.seconds >= excess / 2; });
  if (cause != suspects.end()) {
    // It took micro-batches of a slower rank of its node, so no rank waits for it.
    const double slowest = std::ranges::max(ranks | std::views::transform(compute_per_sample));
    if (cause->cause == kSamples && compute_per_sample(*slow) < kFaster * slowest) return std::nullopt;
    found.cause = cause->cause;
    found.evidence = cause->evidence;
  }
  return found;
}

std::optional<Straggler> find_slow_link(std::span<const double> seconds) {
  std::vector<double> nodes;
  std::copy_if(seconds.begin(), seconds.end(), std::back_inserter(nodes), [](double s) { return s > 0; });
  if (nodes.size() < 3) return std::nullopt;
  const auto slow = std::max_element(seconds.begin(), seconds.end());
  const double median = lower_median(nodes);
  if (*slow < kSlowLink * median) return std::nullopt;
  const auto rate = [](double time) { return static_cast<double>(kLinkBytes) / time / 1e6; };
  return Straggler{.rank = static_cast<int>(slow - seconds.begin()),
                   .cause = "network",
                   .excess = *slow / median - 1,
                   .evidence = fmt::format(
                       "messages of its node travel at {:.0f} MB/s, those of the median node at {:.0f} MB/s",
                       rate(*slow), rate(median))};
}

std::vector<double> measure_node_links(const Machine& machine, const mpi::Communicator& world) {
  std::vector<int> leaders;
  for (int rank = 0; rank < machine.ranks; ++rank) {
    if (machine.placements[static_cast<std::size_t>(rank)].node == rank) leaders.push_back(rank);
  }
  const int nodes = static_cast<int>(leaders.size());
  const auto me = std::find(leaders.begin(), leaders.end(), machine.rank);
  double mine = std::numeric_limits<double>::infinity();
  // Pairs of neighbors in three rounds, so that a node has one partner at a time: first those that begin
  // with an even node, then those with an odd one, then the pair that closes a ring of an odd number of
  // nodes.
  for (int round = 0; round < 3; ++round) {
    world.barrier();
    if (me == leaders.end()) continue;
    const int i = static_cast<int>(me - leaders.begin());
    for (const int first : {(i + nodes - 1) % nodes, i}) {
      const int turn = first == nodes - 1 && nodes % 2 == 1 ? 2 : first % 2;
      const int second = (first + 1) % nodes;
      if (turn != round || first == second) continue;
      mine = std::min(
          mine, ping_pong(leaders[static_cast<std::size_t>(first == i ? second : first)], world, first != i));
    }
  }
  return mpi::all_gather(world, std::isfinite(mine) ? mine : 0);
}

std::optional<Straggler> diagnose(std::span<const RankTimes> ranks, const Machine& machine,
                                  const mpi::Communicator& world) {
  std::optional<Straggler> found = find_straggler(ranks);
  if (!found && machine.nodes >= 3 && exposed_share(ranks) >= kLeastExposed) {
    found = find_slow_link(measure_node_links(machine, world));
  }
  if (found) found->host = machine.placements[static_cast<std::size_t>(found->rank)].host;
  return found;
}

}  // namespace convoke::run
