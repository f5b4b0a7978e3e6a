#include <algorithm>
#include <memory>
#include <vector>

#include "convoke/engine/shares.hpp"
#include "convoke/sync/allreduce.hpp"
#include "study/prediction/simulated_sum.hpp"

namespace convoke::study {
namespace {

/// Each rank that exchanges has a real sync::AllReduce, whose sums are simulated.
class GradientExchange {
 public:
  GradientExchange(const StepProfile& profile, const Cluster& cluster, int ranks, double computation);

  ExchangeTime run();

 private:
  struct Rank {
    engine::NodeShare share;
    std::unique_ptr<sync::AllReduce> exchange;  ///< null if this rank exchanges nothing
    std::vector<LibrarySum*> by_library;        ///< by bucket; empty if they are summed in slices
    std::size_t reports = 0;                    ///< of backward, so far
    std::size_t complete = 0;                   ///< elements of this rank's gradients
    bool waits = false;                         ///< its computation is over
    bool done = false;
  };
  /// The ranks that share one model.
  struct Team {
    int first = 0, size = 1;
  };
  /// The ranks that exchange the same slice, and the state of their sums.
  struct Peers {
    PeerGroup group;
    std::vector<sync::Bucket> buckets;
    std::vector<std::unique_ptr<SliceSumPhases>> phases;  ///< by bucket
    std::vector<std::unique_ptr<Inbox>> inboxes;          ///< by bucket
    std::vector<std::vector<Round>> rounds;               ///< by member
  };

  const Team& team_of(int rank) const { return teams_[static_cast<std::size_t>(rank / team_size_)]; }
  Rank& at(int rank) { return ranks_[static_cast<std::size_t>(rank)]; }
  void connect(int place, int leaders);
  void add_member(Peers& peers, std::size_t member);
  void computed(int rank, double time);
  void arrived(int rank, double time, int sum);
  void advance(int rank);
  void finish(int rank);
  void schedule(int rank);

  const StepProfile& profile_;
  double computation_;
  int team_size_;
  std::size_t element_bytes_;
  SimulatedWorld world_;
  std::vector<Rank> ranks_;
  std::vector<Team> teams_;
  std::vector<std::unique_ptr<Peers>> peers_;
};

GradientExchange::GradientExchange(const StepProfile& profile, const Cluster& cluster, int ranks,
                                   double computation)
    : profile_(profile),
      computation_(computation),
      team_size_(profile.shares_memory ? std::min(ranks, cluster.ranks_per_node) : 1),
      element_bytes_(profile.sums.fixed ? sizeof(std::int64_t) : sizeof(float)),
      world_(cluster, ranks),
      ranks_(static_cast<std::size_t>(ranks)) {
  for (int first = 0; first < ranks; first += team_size_)
    teams_.push_back({first, std::min(team_size_, ranks - first)});
  const int leaders = teams_.back().size;  // only the last node may have fewer ranks
  for (int rank = 0; rank < ranks; ++rank) {
    at(rank).share = engine::NodeShare(profile.sums.elements, rank - team_of(rank).first, leaders);
    at(rank).share.begin_step();
  }
  if (teams_.size() == 1) return;
  for (int place = 0; place < leaders; ++place) connect(place, leaders);
}

// Connects the ranks with the same place on all nodes.
void GradientExchange::connect(int place, int leaders) {
  std::vector<int> members;
  for (const Team& team : teams_) members.push_back(team.first + place);
  const engine::NodeShare share(profile_.sums.elements, place, leaders);
  const sync::ExchangeShape shape{share.slice().size(), profile_.sums.fixed,
                                  share.bf16_elements(profile_.sums.bf16_elements)};
  const int size = static_cast<int>(members.size());
  peers_.push_back(std::make_unique<Peers>(Peers{
      PeerGroup(world_, std::move(members)), sync::cut_buckets(shape, profile_.options, size), {}, {}, {}}));
  Peers& peers = *peers_.back();
  for (int member = 0; member < size; ++member) peers.rounds.push_back(halving_and_doubling(member, size));
  const auto rounds = static_cast<std::size_t>(peers.rounds.front().back().number) + 1;
  for (const sync::Bucket& bucket : peers.buckets) {
    const bool slices = bucket.algorithm == sync::Algorithm::kSlices;
    peers.phases.push_back(slices ? std::make_unique<SliceSumPhases>(peers.group.size()) : nullptr);
    peers.inboxes.push_back(slices ? nullptr : std::make_unique<Inbox>(peers.group.size(), rounds));
  }
  for (std::size_t member = 0; member < peers.group.size(); ++member) add_member(peers, member);
}

void GradientExchange::add_member(Peers& peers, std::size_t member) {
  Rank& rank = at(peers.group.ranks[member]);
  std::vector<std::unique_ptr<sync::BucketSum>> sums;
  for (std::size_t i = 0; i < peers.buckets.size(); ++i) {
    const sync::Bucket& bucket = peers.buckets[i];
    const Participant me{world_, peers.group, member, static_cast<int>(i)};
    rank.by_library.push_back(nullptr);
    if (bucket.algorithm == sync::Algorithm::kSlices) {
      sums.push_back(
          std::make_unique<SliceSum>(me, *peers.phases[i], bucket, profile_.copy_seconds_per_byte));
    } else {
      auto sum = std::make_unique<LibrarySum>(me, peers.rounds[member], *peers.inboxes[i], bucket,
                                              profile_.copy_seconds_per_byte);
      rank.by_library.back() = sum.get();
      sums.push_back(std::move(sum));
    }
  }
  rank.exchange = std::make_unique<sync::AllReduce>(peers.buckets, std::move(sums));
  rank.exchange->begin_step();
}

ExchangeTime GradientExchange::run() {
  for (int rank = 0; rank < static_cast<int>(ranks_.size()); ++rank) schedule(rank);
  world_.run([this](const SimulatedWorld::Wakeup& wakeup) {
    if (wakeup.reason == SimulatedWorld::Reason::kComputed) {
      computed(wakeup.rank, wakeup.time);
    } else {
      arrived(wakeup.rank, wakeup.time, wakeup.sum);
    }
  });
  return world_.time();
}

// Wakes a rank when the next piece of its computation is over. The time that it has spent on the
// exchange since the last one delays it.
void GradientExchange::schedule(int rank) {
  const std::vector<StepProfile::Report>& reports = profile_.backward;
  const auto time_of = [&](std::size_t report) {
    return report < reports.size() ? computation_ - reports[report].seconds_before_end : computation_;
  };
  const std::size_t next = at(rank).reports;
  const double piece = time_of(next) - (next == 0 ? 0 : time_of(next - 1));
  world_.wake(rank, world_.core(rank).now + std::max(0.0, piece), SimulatedWorld::Reason::kComputed);
}

void GradientExchange::computed(int rank, double time) {
  Rank& mine = at(rank);
  world_.core(rank).now = time;
  mine.waits = mine.reports == profile_.backward.size();
  mine.complete = mine.waits ? profile_.sums.elements : profile_.backward[mine.reports].elements;
  ++mine.reports;
  for (LibrarySum* const sum : mine.by_library) {
    if (sum != nullptr) sum->progress();
  }
  const Team& team = team_of(rank);
  if (mine.waits) {
    finish(rank);
  } else {
    if (mine.exchange != nullptr) advance(rank);
    schedule(rank);
  }
  for (int mate = team.first; mate < team.first + team.size; ++mate) {
    if (mate == rank || !at(mate).waits || at(mate).done) continue;
    world_.core(mate).now = std::max(world_.core(mate).now, time);
    finish(mate);
  }
}

// A rank that computes sees what has arrived when it calls the library next.
void GradientExchange::arrived(int rank, double time, int sum) {
  Rank& mine = at(rank);
  if (!mine.waits || mine.done) return;
  Core& core = world_.core(rank);
  if (core.now > time) {
    world_.wake(rank, core.now, SimulatedWorld::Reason::kArrived, sum);
    return;
  }
  core.now = time;
  if (LibrarySum* const at_library = mine.by_library[static_cast<std::size_t>(sum)]) at_library->progress();
  finish(rank);
}

// As engine::GradientSums::advance.
void GradientExchange::advance(int rank) {
  Rank& mine = at(rank);
  const Team& team = team_of(rank);
  std::size_t complete = mine.complete;
  for (int mate = team.first; mate < team.first + team.size; ++mate)
    complete = std::min(complete, at(mate).complete);
  const engine::Range next = mine.share.take(complete);
  world_.core(rank).spend(
      profile_.add_seconds_per_byte *
      static_cast<double>(next.size() * element_bytes_ * static_cast<std::size_t>(team.size - 1)));
  if (mine.exchange != nullptr) mine.exchange->gradients_ready(mine.share.ready());
}

// As engine::GradientSums::finish, whenever something has happened.
void GradientExchange::finish(int rank) {
  Rank& mine = at(rank);
  advance(rank);
  mine.done = mine.share.done() && (mine.exchange == nullptr || mine.exchange->finish_gradients(false));
}

}  // namespace

ExchangeTime sum_gradients(const StepProfile& profile, const Cluster& cluster, int ranks,
                           double computation) {
  return GradientExchange(profile, cluster, ranks, computation).run();
}

}  // namespace convoke::study
