#pragma once
#include <cstdint>
#include <optional>

#include "convoke/mpi/communicator.hpp"
#include "convoke/train/groups.hpp"

namespace convoke::train {

/// Gives the members of an ensemble to the groups that train them. Each group starts with the member of its
/// own number. If all groups have the same number of ranks, the others go one by one to the group that is
/// free first, so a member that stops early, fails or trains on a slow node does not delay the rest: a free
/// group asks rank 0, which answers when it calls serve(). Otherwise each group trains every n-th member, n
/// being the number of groups, because the number of ranks decides how fp32 sums are rounded, and what local
/// SGD averages.
class MemberQueue {
 public:
  /// Collective over `world`. `groups` must outlive the queue.
  MemberQueue(const Groups& groups, const mpi::Communicator& world);

  /// Returns the next member for this group; empty if none is left. Collective over the group.
  std::optional<std::int64_t> next();

  /// Rank 0 answers the groups that have asked. It must call this until all groups have trained their last
  /// member.
  void serve();

 private:
  std::int64_t take();
  std::int64_t take_shared() { return given_ < groups_.members ? given_++ : groups_.members; }
  std::int64_t ask();

  const Groups& groups_;
  mpi::Communicator world_;  ///< only for these messages
  std::int64_t last_ = -1;   ///< the member that this group got last
  std::int64_t given_;       ///< members that have been given away; only rank 0 counts them
};

}  // namespace convoke::train
