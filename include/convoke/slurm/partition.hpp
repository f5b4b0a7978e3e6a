#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace convoke::slurm {

inline constexpr std::int64_t kUnlimited = -1;

/// Parses a time in Slurm's format to seconds: "90" (minutes), "90:00", "1:30:00", "2-0" (days-hours),
/// "2-12:30", "2-12:30:00"; kUnlimited for "infinite". Throws Error for anything else; `what` names the value
/// in messages.
std::int64_t parse_time(std::string_view text, const std::string& what = "the time");

/// Returns "01:30:00", "2-12:30:00".
std::string format_time(std::int64_t seconds);

/// Equal nodes of a partition.
struct NodeKind {
  std::int64_t count = 0;  ///< available now or later: neither down nor drained
  int sockets = 1;
  int cores = 1;             ///< physical, of all sockets
  int threads_per_core = 1;  ///< Slurm's CPUs are the cores times this, or the cores
  std::int64_t memory_mib = 0;
};

/// A queue of the cluster.
struct Partition {
  std::string name;
  bool is_default = false;
  std::int64_t time_limit = kUnlimited;  ///< seconds
  std::vector<NodeKind> kinds;           ///< the most numerous first

  std::int64_t nodes() const;
};

/// The call of sinfo, which prints a line for each kind of node in each partition.
inline constexpr std::array kSinfo{"sinfo", "--noheader", "--exact", "--format", "%P|%a|%l|%D|%c|%m|%z|%T"};

/// Parses the output of this call to partitions, in its order. Throws Error for an unexpected line.
std::vector<Partition> parse_sinfo(const std::string& text);

/// Returns the partition `name`; if that is empty, the default partition, or the first. Throws Error if the
/// name is unknown or no node of the partition is available.
const Partition& choose(const std::vector<Partition>& partitions, std::string_view name);

}  // namespace convoke::slurm
