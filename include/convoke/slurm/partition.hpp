#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "convoke/slurm/time_limit.hpp"

namespace convoke::slurm {

/// Nodes of a partition that are alike.
struct NodeKind {
  std::int64_t count = 0;  ///< that can be had now or later: not down, not drained
  int sockets = 1;
  int cores = 1;             ///< physical, of all sockets
  int threads_per_core = 1;  ///< what Slurm counts as CPUs are cores x this, or cores alone
  std::int64_t memory_mib = 0;
};

/// A queue.
struct Partition {
  std::string name;
  bool is_default = false;
  std::int64_t time_limit = kUnlimited;  ///< seconds
  std::vector<NodeKind> kinds;           ///< the most numerous first

  std::int64_t nodes() const;
};

/// What sinfo is asked, one line for each kind of nodes in each partition.
inline constexpr std::array kSinfo{"sinfo", "--noheader", "--exact", "--format", "%P|%a|%l|%D|%c|%m|%z|%T"};

/// Partitions out of what that prints, in its order. Throws Error for a line that is something else.
std::vector<Partition> parse_sinfo(const std::string& text);

/// The partition `name`, or the default one (the first if none is) where that is empty. Throws Error naming
/// the known ones, or if none of its nodes can be had.
const Partition& choose(const std::vector<Partition>& partitions, std::string_view name);

}  // namespace convoke::slurm
