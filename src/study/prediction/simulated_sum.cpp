#include "study/prediction/simulated_sum.hpp"

#include <algorithm>
#include <bit>
#include <cassert>

namespace convoke::study {

PeerGroup::PeerGroup(const SimulatedWorld& world, std::vector<int> members) : ranks(std::move(members)) {
  for (const int rank : ranks) {
    on_node.push_back(static_cast<int>(std::ranges::count_if(
        ranks, [&](int other) { return world.node_of(other) == world.node_of(rank); })));
  }
}

void BlockExchange::post(const Participant& me, double block_bytes) {
  const PeerGroup& group = me.group;
  Core& core = me.core();
  Network& network = me.world.network;
  const auto near = static_cast<double>(group.on_node[me.member] - 1);
  const double far = static_cast<double>(group.size() - 1) - near;
  core.spend(near * block_bytes / network.within().bytes_per_second +
             far * network.between().core_seconds_per_message);
  const double latency = network.between().latency_seconds;
  first_ = std::min(first_, core.now + latency);
  last_ = std::max(last_, core.now + (near > 0 ? network.within().latency_seconds : 0));
  if (far > 0) last_ = std::max(last_, network.leave(me.node(), far * block_bytes, core.now) + latency);
  if (++posted_ < group.size()) return;
  for (std::size_t other = 0; other < group.size(); ++other) {
    const int rank = group.ranks[other];
    const int blocks = static_cast<int>(group.size()) - group.on_node[other];
    arrived_[other] =
        blocks == 0 ? last_
                    : std::max(last_, network.arrive(me.world.node_of(rank), blocks * block_bytes, first_));
    me.world.wake(rank, arrived_[other], SimulatedWorld::Reason::kArrived, me.number);
  }
}

bool BlockExchange::receive(const Participant& me, double block_bytes) const {
  Core& core = me.core();
  if (core.now < arrived_[me.member]) return false;
  const int near = me.group.on_node[me.member];
  const int far = static_cast<int>(me.group.size()) - near;
  core.spend(far * block_bytes * me.world.network.between().core_seconds_per_byte +
             (near - 1) * block_bytes / me.world.network.within().bytes_per_second);
  return true;
}

SliceSum::SliceSum(const Participant& me, SliceSumPhases& phases, const sync::Bucket& bucket,
                   double copy_seconds_per_byte)
    : me_(me),
      phases_(phases),
      block_bytes_(
          static_cast<double>(sync::slice_elements(bucket.size(), static_cast<int>(me.group.size()))) *
          sync::message_bytes(bucket.wire)),
      pass_seconds_(
          copy_seconds_per_byte *
          static_cast<double>(bucket.size() * std::max(sync::bytes_of(bucket.wire), sizeof(float)))) {}

// The passes over the bucket: values to messages; other ranks' slices added up, and the sum to a message;
// messages to values.
void SliceSum::start() {
  me_.core().spend(pass_seconds_);
  phases_.scatter.post(me_, block_bytes_);
}

bool SliceSum::combine([[maybe_unused]] bool wait) {
  assert(!wait);
  if (!phases_.scatter.receive(me_, block_bytes_)) return false;
  me_.core().spend(pass_seconds_);
  phases_.gather.post(me_, block_bytes_);
  return true;
}

bool SliceSum::finish([[maybe_unused]] bool wait) {
  assert(!wait);
  if (!phases_.gather.receive(me_, block_bytes_)) return false;
  me_.core().spend(pass_seconds_);
  return true;
}

std::vector<Round> halving_and_doubling(int member, int members) {
  const int power = static_cast<int>(std::bit_floor(static_cast<unsigned>(members)));
  const int beyond = members - power;
  const int steps = std::bit_width(static_cast<unsigned>(power)) - 1;
  const int last = 2 * steps + 1;
  const bool folds = member < 2 * beyond;
  if (folds && member % 2 == 0) {
    return {{.number = 0, .to = member + 1}, {.number = last, .from = member + 1}};
  }
  std::vector<Round> rounds;
  if (folds) rounds.push_back({.number = 0, .from = member - 1, .adds = true});
  const int place = folds ? member / 2 : member - beyond;
  const auto partner = [&](int step) {
    const int other = place ^ (1 << step);
    return other < beyond ? 2 * other + 1 : other + beyond;
  };
  double share = 1;
  for (int step = 0; step < steps; ++step) {
    share /= 2;
    rounds.push_back({1 + step, partner(step), partner(step), share, true});
  }
  for (int step = steps - 1; step >= 0; --step) {
    rounds.push_back({2 * steps - step, partner(step), partner(step), share, false});
    share *= 2;
  }
  if (folds) rounds.push_back({.number = last, .to = member - 1});
  return rounds;
}

LibrarySum::LibrarySum(const Participant& me, const std::vector<Round>& rounds, Inbox& inbox,
                       const sync::Bucket& bucket, double add_seconds_per_byte)
    : me_(me),
      rounds_(rounds),
      inbox_(inbox),
      bytes_(static_cast<double>(bucket.size() * sync::bytes_of(bucket.wire))),
      add_seconds_per_byte_(add_seconds_per_byte) {}

void LibrarySum::start() {
  started_ = true;
  enter();
}

bool LibrarySum::combine(bool) { return true; }

bool LibrarySum::finish([[maybe_unused]] bool wait) {
  assert(!wait);
  progress();
  return round_ == rounds_.size();
}

// Sends this round's message.
void LibrarySum::enter() {
  if (round_ == rounds_.size() || rounds_[round_].to < 0) return;
  const Round& round = rounds_[round_];
  const int to = me_.group.ranks[static_cast<std::size_t>(round.to)], to_node = me_.world.node_of(to);
  Core& core = me_.core();
  core.spend(me_.world.network.link(me_.node(), to_node).core_seconds_per_message);
  double& arrival = inbox_.at(round.to, round.number);
  arrival = me_.world.network.send(me_.node(), to_node, round.share * bytes_, core.now);
  me_.world.wake(to, arrival, SimulatedWorld::Reason::kArrived, me_.number);
}

void LibrarySum::progress() {
  if (!started_) return;
  for (; round_ < rounds_.size(); enter()) {
    const Round& round = rounds_[round_];
    if (round.from >= 0) {
      Core& core = me_.core();
      if (core.now < inbox_.at(static_cast<int>(me_.member), round.number)) return;
      const int from = me_.world.node_of(me_.group.ranks[static_cast<std::size_t>(round.from)]);
      const double bytes = round.share * bytes_;
      core.spend(bytes * (me_.world.network.link(from, me_.node()).core_seconds_per_byte +
                          (round.adds ? add_seconds_per_byte_ : 0)));
    }
    ++round_;
  }
}

}  // namespace convoke::study
