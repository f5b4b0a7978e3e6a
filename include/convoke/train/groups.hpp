#pragma once
#include <cstdint>
#include <vector>

#include "convoke/mpi/communicator.hpp"

namespace convoke::train {

/// The ranks of a world in groups of neighbours, one group for each member that trains at the same time. With
/// more members than ranks, every rank is a group and trains several members one after another.
struct Groups {
  std::int64_t members = 1;
  std::int64_t count = 1;   ///< number of groups, min(members, ranks), including groups in other jobs
  std::int64_t mine = 0;    ///< the group of this rank: the first member that it trains
  mpi::Communicator group;  ///< its ranks

  /// The members that this rank's group trains, in this order: mine, mine + count, ...
  std::vector<std::int64_t> turns() const;
};

/// Returns the group of `rank` when `ranks` ranks form `groups` groups whose sizes differ by at most one.
std::int64_t group_of(std::int64_t rank, std::int64_t ranks, std::int64_t groups);

/// Splits the world. Collective.
Groups split(const mpi::Communicator& world, std::int64_t members);

/// Makes all ranks the one group of `member`; other jobs train the other members. Throws Error unless
/// `member` (counted from 0) exists.
Groups only(const mpi::Communicator& world, std::int64_t member, std::int64_t members);

}  // namespace convoke::train
