#pragma once
#include <cstdint>
#include <vector>

#include "convoke/mpi/communicator.hpp"

namespace convoke::train {

/// The ranks of a world in groups of neighbours, one for each member that trains at the same time. Where
/// members are more than ranks, every rank is a group of its own and trains several members in turns.
struct Groups {
  std::int64_t members = 1;
  std::int64_t count = 1;   ///< groups: min(members, ranks); those that work elsewhere counted too
  std::int64_t mine = 0;    ///< the group of this rank: the first member that it trains
  mpi::Communicator group;  ///< its ranks

  /// The members that this rank's group trains, in this order: mine, mine + count, ...
  std::vector<std::int64_t> turns() const;
};

/// Group of `rank` when `ranks` ranks form `groups` groups whose sizes differ by at most one.
std::int64_t group_of(std::int64_t rank, std::int64_t ranks, std::int64_t groups);

/// Splits the world. Collective.
Groups split(const mpi::Communicator& world, std::int64_t members);

/// All ranks as the one group of `member`; the other members are trained elsewhere. Throws Error unless there
/// is one of that number, counted from 0.
Groups only(const mpi::Communicator& world, std::int64_t member, std::int64_t members);

}  // namespace convoke::train
