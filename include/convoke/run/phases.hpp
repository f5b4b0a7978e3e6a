#pragma once
#include <chrono>
#include <cstdint>

#include "convoke/mpi/communicator.hpp"

namespace convoke::run {

/// Seconds since a moment.
class Stopwatch {
 public:
  double seconds() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point start_ = Clock::now();
};

/// Adds the time of a scope to `seconds`.
class Timed {
 public:
  explicit Timed(double& seconds) : seconds_(seconds) {}
  ~Timed() { seconds_ += watch_.seconds(); }
  Timed(const Timed&) = delete;
  Timed& operator=(const Timed&) = delete;

 private:
  double& seconds_;
  Stopwatch watch_;
};

/// Where the time of a run goes on this rank, in seconds.
struct Phases {
  double load = 0;                   ///< opening the dataset and compiling what works on it
  double steps = 0;                  ///< within training steps
  double exposed_communication = 0;  ///< the part of `steps` spent waiting for other ranks
  double checkpoint = 0;
  double evaluation = 0;  ///< validation and test
  double gather = 0;      ///< members to rank 0, and writing the model file
  double first_step = 0;  ///< from the making of this object to the first training step

  Stopwatch since_start;

  double compute() const { return steps - exposed_communication; }
};

/// A time over the ranks, in seconds.
struct Spread {
  double max = 0, mean = 0, min = 0;
};

/// Phases over the ranks, each for itself: the largest compute() and the largest exposed_communication may be
/// of different ranks, so only means may be added up.
struct PhaseSpreads {
  Spread load, steps, compute, exposed_communication, checkpoint, evaluation, gather, first_step;
};

/// The same on all ranks. Collective.
PhaseSpreads spread_over_ranks(const Phases& mine, const mpi::Communicator& world);

/// Largest resident set of this process so far, in bytes (VmHWM).
std::uint64_t peak_resident_bytes();

}  // namespace convoke::run
