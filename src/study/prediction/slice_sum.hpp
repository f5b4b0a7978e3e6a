#pragma once
#include <cstddef>
#include <limits>
#include <vector>

#include "convoke/sync/bucket.hpp"
#include "convoke/sync/bucket_sum.hpp"
#include "study/prediction/simulated_world.hpp"

namespace convoke::study {

/// Ranks that sum the same buckets.
struct PeerGroup {
  PeerGroup(const SimulatedWorld& world, std::vector<int> ranks);

  std::vector<int> ranks;
  std::vector<int> on_node;  ///< by member: how many of the ranks are on its node, itself included
  std::size_t size() const { return ranks.size(); }
};

/// One phase of a sum in slices: each member sends a block to each other one. A member has all blocks for it
/// when all have sent theirs.
class BlockExchange {
 public:
  explicit BlockExchange(std::size_t members) : arrived_(members, std::numeric_limits<double>::infinity()) {}

  /// A member sends its blocks of so many bytes.
  void post(SimulatedWorld& world, const PeerGroup& group, std::size_t member, double block_bytes, int sum);
  /// Returns true if the member has all blocks for it. It then pays for their arrival.
  bool receive(SimulatedWorld& world, const PeerGroup& group, std::size_t member, double block_bytes) const;

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
  /// `number`: of the bucket.
  SliceSum(SimulatedWorld& world, const PeerGroup& group, std::size_t member, SliceSumPhases& phases,
           const sync::Bucket& bucket, int number, double copy_seconds_per_byte);

  void start() override;
  bool combine(bool wait) override;
  bool finish(bool wait) override;

 private:
  Core& core() const { return world_.core(group_.ranks[member_]); }

  SimulatedWorld& world_;
  const PeerGroup& group_;
  std::size_t member_;
  SliceSumPhases& phases_;
  int number_;
  double block_bytes_, pass_seconds_;
};

}  // namespace convoke::study
