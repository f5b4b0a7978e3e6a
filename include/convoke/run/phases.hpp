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

/// Where the time of a run goes, in seconds: of this rank, or (after slowest()) of the slowest rank for each
/// phase.
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
  /// The maximum of each over the ranks. Collective.
  Phases slowest(const mpi::Communicator& world) const;
};

/// Largest resident set of this process so far, in bytes (VmHWM).
std::uint64_t peak_resident_bytes();

}  // namespace convoke::run
