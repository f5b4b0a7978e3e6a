#pragma once
#include <vector>

#include "convoke/mpi/communicator.hpp"
#include "convoke/os/clock.hpp"
#include "convoke/run/machine.hpp"

namespace convoke::run {

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
