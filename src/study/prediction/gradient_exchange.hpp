#pragma once
#include <cstddef>
#include <memory>
#include <vector>

#include "convoke/engine/node_share.hpp"
#include "convoke/study/prediction/step_profile.hpp"
#include "convoke/sync/allreduce.hpp"
#include "study/prediction/library_sum.hpp"
#include "study/prediction/simulated_world.hpp"
#include "study/prediction/slice_sum.hpp"

namespace convoke::study {

/// A step in which the ranks sum their gradients, in simulated time. Each rank that exchanges has a real
/// sync::AllReduce, whose sums are simulated.
class GradientExchange {
 public:
  /// `computation`: seconds of each rank, without the update.
  GradientExchange(const StepProfile& profile, const Cluster& cluster, int ranks, double computation);

  /// Returns the seconds from the start until the last rank has the sums.
  double run();
  /// Returns the most time that a rank's core has spent on the exchange.
  double handling_seconds() const { return world_.handling_seconds(); }

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
  void handle(const SimulatedWorld::Wakeup& wakeup);
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

}  // namespace convoke::study
