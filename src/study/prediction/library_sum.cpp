#include "study/prediction/library_sum.hpp"

#include <bit>
#include <cassert>

namespace convoke::study {

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

LibrarySum::LibrarySum(SimulatedWorld& world, const PeerGroup& group, std::size_t member,
                       const std::vector<Round>& rounds, Inbox& inbox, const sync::Bucket& bucket, int number,
                       double add_seconds_per_byte)
    : world_(world),
      group_(group),
      member_(member),
      rounds_(rounds),
      inbox_(inbox),
      number_(number),
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
  const int rank = group_.ranks[member_], to = group_.ranks[static_cast<std::size_t>(round.to)];
  const int node = world_.node_of(rank), to_node = world_.node_of(to);
  Core& core = world_.core(rank);
  core.spend(world_.network.link(node, to_node).core_seconds_per_message);
  double& arrival = inbox_.at(round.to, round.number);
  arrival = world_.network.send(node, to_node, round.share * bytes_, core.now);
  world_.wake(to, arrival, SimulatedWorld::Reason::kArrived, number_);
}

void LibrarySum::progress() {
  if (!started_) return;
  for (; round_ < rounds_.size(); enter()) {
    const Round& round = rounds_[round_];
    if (round.from >= 0) {
      const int rank = group_.ranks[member_];
      Core& core = world_.core(rank);
      if (core.now < inbox_.at(static_cast<int>(member_), round.number)) return;
      const int from = world_.node_of(group_.ranks[static_cast<std::size_t>(round.from)]);
      const double bytes = round.share * bytes_;
      core.spend(bytes * (world_.network.link(from, world_.node_of(rank)).core_seconds_per_byte +
                          (round.adds ? add_seconds_per_byte_ : 0)));
    }
    ++round_;
  }
}

}  // namespace convoke::study
