#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "convoke/mpi/communicator.hpp"
#include "convoke/os/clock.hpp"

namespace convoke::run {

/// The placement of a rank: its host and cores.
struct Placement {
  std::string host;
  int node = 0;            ///< lowest of the ranks that share memory with this one
  std::vector<int> cores;  ///< physical cores of its binding, numbered by their first logical CPU, sorted
  double quota = 0;        ///< CPUs that the control group grants; 0: no limit
};

/// Ranks of a node whose bindings overlap, directly or through other ranks, and the cores they share; sorted.
struct Sharing {
  std::vector<int> ranks;
  std::vector<int> cores;
};

/// Returns the groups of `node`; a rank that shares no core is alone in its group.
std::vector<Sharing> sharings(std::span<const Placement> placements, int node);

/// Where each rank runs, as seen by one rank.
struct Machine {
  std::string host;
  int rank = 0;
  int ranks = 1;
  int nodes = 1;
  int local_rank = 0;  ///< among the ranks of its node
  int local_ranks = 1;
  /// The number of cores of this rank, at least 1. A rank with a separate binding has all its cores; ranks
  /// with overlapping bindings divide the union; a control group's quota is divided among the ranks of the
  /// node.
  int cores = 1;
  std::vector<Placement> placements;  ///< of every rank

  /// Returns the worker threads of this rank: `requested`, or its number of cores if that is 0 ("auto").
  int threads_for(int requested) const { return requested > 0 ? requested : cores; }
  /// Returns the worker threads of any rank.
  int threads_of(int other, int requested) const;
  /// Returns the number of worker threads of all ranks.
  int all_threads(int requested) const;
  /// Returns the number of physical cores that these threads use: one per thread, but not more than the
  /// bindings share, nor more than the quota of a node.
  int cores_of_all(int requested) const;
};

/// Collective over `world`.
Machine survey(const mpi::Communicator& world);

/// Computes the result of survey() from the placements of all ranks; a pure function.
Machine machine_of(std::vector<Placement> placements, int rank);

/// Returns where the ranks run, for at most two hosts with four groups of ranks that share cores: "node1:
/// ranks 0-1 on cores 0-3, rank 2 on core 4; 7 hosts more".
std::string placement_text(const Machine& machine);

/// Returns the kind of this node's memory, e.g. "DDR5", if the system shows it to users other than root;
/// otherwise "". Training times depend on both processor and memory.
std::string memory_kind();

/// Returns the kind of the first memory module in a table of the firmware (SMBIOS structures of type 17); ""
/// if the table has none or is damaged. https://www.dmtf.org/standards/smbios
std::string memory_kind_in(std::span<const std::uint8_t> smbios);

/// Measures what other programs take of the cores of a job, from its construction on.
class OtherPrograms {
 public:
  explicit OtherPrograms(const Machine& machine);

  /// Returns their share of the `workers` cores that the worker threads of all ranks use, 0 to 1. Work that
  /// fits on cores without a thread does not count. NaN if the system does not say, or if less than a second
  /// has passed: the system counts in hundredths of a second. Collective.
  double share(int workers, const mpi::Communicator& world) const;

 private:
  /// The busy time of the cores that this rank counts: the first rank of those that share cores counts them.
  double busy() const;

  std::vector<int> cpus_;  ///< logical CPUs that this rank counts
  double cores_ = 0;       ///< their cores
  double busy_, used_;     ///< of those CPUs, and of this process, at the start, in seconds
  os::Stopwatch watch_;
};

/// The share of the cores: of the time that other programs had, what did not fit on spare cores.
///   max(0, busy - used - (cores - workers) T) / (workers T)
/// `busy`: time in which the `cores` were busy, `used`: by the job itself, in `seconds` T of `workers` cores
/// with a worker thread.
double share_of_others(double busy, double used, double cores, double workers, double seconds);

}  // namespace convoke::run
