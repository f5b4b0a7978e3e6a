#include "convoke/study/analysis/step_model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "convoke/core/error.hpp"

namespace convoke::study {
namespace {

// Returns ceil(log2 n).
int rounds_for(int n) { return std::bit_width(static_cast<unsigned>(n - 1)); }

// One direction of a sum (to the sums, or back), for the busiest rank.
struct Way {
  double network_seconds = 0;  // while the core can compute
  double core_seconds = 0;     // while it cannot
};

// Sends `bytes` in one message over a link; the network's part overlaps with the core's.
Way message(const LinkSpeed& link, double bytes) {
  const double core = link.core_seconds_per_byte * bytes;
  return {link.latency_seconds + std::max(0.0, bytes / link.bytes_per_second - core), core};
}

void add(Way& way, const Way& part) {
  way.network_seconds += part.network_seconds;
  way.core_seconds += part.core_seconds;
}

// The time of one direction of a sum over the nodes, for the link of the busiest one.
Way way_of(const Cluster& cluster, int nodes, double bytes) {
  Way way;
  if (cluster.algorithm == SumAlgorithm::kSlices) return message(cluster.link, bytes * (nodes - 1) / nodes);
  // Nodes beyond a power of two send all they have first, and receive the result last.
  const bool beyond = !std::has_single_bit(static_cast<unsigned>(nodes));
  const int rounds = beyond ? rounds_for(nodes) - 1 : rounds_for(nodes);
  if (beyond) add(way, message(cluster.link, bytes));
  double share = 1;  // share of the bytes in this round
  for (int round = 0; round < rounds; ++round) {
    share /= 2;
    add(way, message(cluster.link, share * bytes));
  }
  return way;
}

// Returns the bytes that a node adds to its own in one sum.
double added(int nodes, double bytes) { return bytes * (nodes - 1) / nodes; }

double compute_seconds(const StepProfile& profile, std::int64_t lanes) {
  const auto found = std::find_if(profile.compute.begin(), profile.compute.end(),
                                  [&](const StepProfile::Compute& at) { return at.lanes == lanes; });
  if (found == profile.compute.end()) {
    throw Error(fmt::format("the step of a rank with {} lanes was not measured", lanes));
  }
  return found->seconds;
}

}  // namespace

double StepProfile::scatter() const {
  double most = 0;
  for (const Compute& at : compute) most = std::max(most, at.scatter);
  return most;
}

std::int64_t busiest_lanes(std::int64_t lanes, int ranks, Scaling scaling) {
  return scaling == Scaling::kWeak ? lanes : (lanes + ranks - 1) / ranks;
}

std::vector<std::int64_t> needed_lanes(std::int64_t lanes, std::span<const int> ranks, Scaling scaling) {
  std::vector<std::int64_t> needed{lanes};
  for (const int count : ranks) needed.push_back(busiest_lanes(lanes, count, scaling));
  std::sort(needed.begin(), needed.end());
  needed.erase(std::unique(needed.begin(), needed.end()), needed.end());
  return needed;
}

StepPrediction predict_step(const StepProfile& profile, const Cluster& cluster, int ranks, Scaling scaling) {
  StepPrediction step{.ranks = ranks, .lanes = busiest_lanes(profile.lanes, ranks, scaling)};
  step.compute_seconds = compute_seconds(profile, step.lanes);
  const int on_node = std::min(ranks, cluster.ranks_per_node);
  const int nodes = cluster.nodes_for(ranks);
  // The last node may have fewer ranks. Each node has as many leaders as that one.
  const int leaders = ranks % on_node == 0 ? on_node : ranks % on_node;
  // Time 0 is the end of the computation.
  double done = -step.compute_seconds;
  for (const Bucket& bucket : profile.buckets) {
    step.summing_seconds += profile.add_seconds_per_byte * bucket.bytes * (on_node - 1) / leaders;
    if (nodes == 1) continue;
    const Way way = way_of(cluster, nodes, bucket.bytes);
    done = std::max(done, -bucket.seconds_before_end) + 2 * way.network_seconds;
    step.summing_seconds +=
        (2 * way.core_seconds + profile.add_seconds_per_byte * added(nodes, bucket.bytes)) / leaders;
  }
  if (nodes > 1) step.exposed_seconds = std::max(0.0, done);
  const auto batch = static_cast<double>(profile.batch);
  step.images_per_second = batch * (scaling == Scaling::kWeak ? ranks : 1) / step.seconds();
  step.speedup = step.images_per_second / (batch / compute_seconds(profile, profile.lanes));
  step.efficiency = step.speedup / ranks;
  return step;
}

}  // namespace convoke::study
