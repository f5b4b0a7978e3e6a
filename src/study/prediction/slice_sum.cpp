#include "study/prediction/slice_sum.hpp"

#include <algorithm>
#include <cassert>

namespace convoke::study {

PeerGroup::PeerGroup(const SimulatedWorld& world, std::vector<int> members) : ranks(std::move(members)) {
  for (const int rank : ranks) {
    on_node.push_back(static_cast<int>(std::ranges::count_if(
        ranks, [&](int other) { return world.node_of(other) == world.node_of(rank); })));
  }
}

void BlockExchange::post(SimulatedWorld& world, const PeerGroup& group, std::size_t member,
                         double block_bytes, int sum) {
  Core& core = world.core(group.ranks[member]);
  Network& network = world.network;
  const auto near = static_cast<double>(group.on_node[member] - 1);
  const double far = static_cast<double>(group.size() - 1) - near;
  core.spend(near * block_bytes / network.within().bytes_per_second +
             far * network.between().core_seconds_per_message);
  const double latency = network.between().latency_seconds;
  first_ = std::min(first_, core.now + latency);
  last_ = std::max(last_, core.now + (near > 0 ? network.within().latency_seconds : 0));
  if (far > 0) {
    last_ = std::max(
        last_, network.leave(world.node_of(group.ranks[member]), far * block_bytes, core.now) + latency);
  }
  if (++posted_ < group.size()) return;
  for (std::size_t other = 0; other < group.size(); ++other) {
    const int rank = group.ranks[other];
    const int blocks = static_cast<int>(group.size()) - group.on_node[other];
    arrived_[other] =
        blocks == 0 ? last_
                    : std::max(last_, network.arrive(world.node_of(rank), blocks * block_bytes, first_));
    world.wake(rank, arrived_[other], SimulatedWorld::Reason::kArrived, sum);
  }
}

bool BlockExchange::receive(SimulatedWorld& world, const PeerGroup& group, std::size_t member,
                            double block_bytes) const {
  Core& core = world.core(group.ranks[member]);
  if (core.now < arrived_[member]) return false;
  const int far = static_cast<int>(group.size()) - group.on_node[member];
  core.spend(far * block_bytes * world.network.between().core_seconds_per_byte +
             (group.on_node[member] - 1) * block_bytes / world.network.within().bytes_per_second);
  return true;
}

SliceSum::SliceSum(SimulatedWorld& world, const PeerGroup& group, std::size_t member, SliceSumPhases& phases,
                   const sync::Bucket& bucket, int number, double copy_seconds_per_byte)
    : world_(world),
      group_(group),
      member_(member),
      phases_(phases),
      number_(number),
      block_bytes_(static_cast<double>(sync::slice_elements(bucket.size(), static_cast<int>(group.size()))) *
                   sync::message_bytes(bucket.wire)),
      pass_seconds_(
          copy_seconds_per_byte *
          static_cast<double>(bucket.size() * std::max(sync::bytes_of(bucket.wire), sizeof(float)))) {}

// The passes over the bucket: values to messages; other ranks' slices added up, and the sum to a message;
// messages to values.
void SliceSum::start() {
  core().spend(pass_seconds_);
  phases_.scatter.post(world_, group_, member_, block_bytes_, number_);
}

bool SliceSum::combine([[maybe_unused]] bool wait) {
  assert(!wait);
  if (!phases_.scatter.receive(world_, group_, member_, block_bytes_)) return false;
  core().spend(pass_seconds_);
  phases_.gather.post(world_, group_, member_, block_bytes_, number_);
  return true;
}

bool SliceSum::finish([[maybe_unused]] bool wait) {
  assert(!wait);
  if (!phases_.gather.receive(world_, group_, member_, block_bytes_)) return false;
  core().spend(pass_seconds_);
  return true;
}

}  // namespace convoke::study
