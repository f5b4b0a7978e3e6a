#pragma once
#include <cstddef>
#include <limits>
#include <vector>

#include "convoke/sync/bucket.hpp"
#include "study/prediction/simulated_world.hpp"

// The sums of a bucket in simulated time: in slices, and by the MPI library.

namespace convoke::study {

/// Ranks that sum the same buckets.
struct PeerGroup {
  PeerGroup(const SimulatedWorld& world, std::vector<int> ranks);

  std::vector<int> ranks;
  std::vector<int> on_node;  ///< by member: how many of the ranks are on its node, itself included
  std::size_t size() const { return ranks.size(); }
};

/// A member of a group, in the sum of a bucket.
struct Participant {
  SimulatedWorld& world;
  const PeerGroup& group;
  std::size_t member;
  int number;  ///< of the bucket

  int rank() const { return group.ranks[member]; }
  int node() const { return world.node_of(rank()); }
  Core& core() const { return world.core(rank()); }
};

/// One phase of a sum in slices: each member sends a block to each other one. A member has all blocks for it
/// when all have sent theirs.
class BlockExchange {
 public:
  explicit BlockExchange(std::size_t members) : arrived_(members, std::numeric_limits<double>::infinity()) {}

  /// A member sends its blocks of so many bytes.
  void post(const Participant& me, double block_bytes);
  /// Returns true if the member has all blocks for it. It then pays for their arrival.
  bool receive(const Participant& me, double block_bytes) const;

 private:
  std::size_t posted_ = 0;
  double first_ = std::numeric_limits<double>::infinity();  ///< when the first block arrives
  double last_ = 0;              ///< when the last byte that anyone has sent arrives
  std::vector<double> arrived_;  ///< by member
};

/// The two phases of a sum, for all members.
struct SliceSumPhases {
  explicit SliceSumPhases(std::size_t members) : scatter(members), gather(members) {}
  BlockExchange scatter, gather;
};

/// Simulates sync::OrderedSum and sync::PackedSum.
class SliceSum final : public sync::BucketSum {
 public:
  SliceSum(const Participant& me, SliceSumPhases& phases, const sync::Bucket& bucket,
           double copy_seconds_per_byte);

  void start() override;
  bool combine(bool wait) override;
  bool finish(bool wait) override;

 private:
  Participant me_;
  SliceSumPhases& phases_;
  double block_bytes_, pass_seconds_;
};

/// A member's part in a round of a sum: it sends a part of the bucket, receives a part, or both, and adds
/// the part that it has received.
struct Round {
  int number = 0;  ///< the same for the sender and the receiver of a message
  int to = -1, from = -1;
  double share = 1;  ///< of the bucket, in each message
  bool adds = false;
};

/// The rounds of Rabenseifner's algorithm ("Optimization of collective reduction operations", ICCS 2004),
/// which Convoke selects in Open MPI: halving and doubling; members beyond a power of two send all to another
/// one first, and receive the sums last.
std::vector<Round> halving_and_doubling(int member, int members);

/// When the messages of a sum arrive, for all members and rounds.
class Inbox {
 public:
  Inbox(std::size_t members, std::size_t rounds)
      : rounds_(rounds), times_(members * rounds, std::numeric_limits<double>::infinity()) {}
  double& at(int member, int round) {
    return times_[static_cast<std::size_t>(member) * rounds_ + static_cast<std::size_t>(round)];
  }

 private:
  std::size_t rounds_;
  std::vector<double> times_;
};

/// A sum by the MPI library, in simulated time. The library enters the next round only when it is called.
class LibrarySum final : public sync::BucketSum {
 public:
  LibrarySum(const Participant& me, const std::vector<Round>& rounds, Inbox& inbox,
             const sync::Bucket& bucket, double add_seconds_per_byte);

  void start() override;
  bool combine(bool wait) override;
  bool finish(bool wait) override;
  /// Makes the progress that any call of the library makes on this sum.
  void progress();

 private:
  void enter();

  Participant me_;
  const std::vector<Round>& rounds_;
  Inbox& inbox_;
  double bytes_, add_seconds_per_byte_;
  std::size_t round_ = 0;
  bool started_ = false;
};

}  // namespace convoke::study
