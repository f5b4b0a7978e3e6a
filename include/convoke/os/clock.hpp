#pragma once
#include <chrono>
#include <string>

namespace convoke::os {

/// Measures seconds with a monotonic clock.
class Stopwatch {
 public:
  double seconds() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point start_ = Clock::now();
};

/// Return the CPU time of the calling thread, and of all threads of the process, in seconds.
double thread_cpu_seconds();
double process_cpu_seconds();

/// Returns the time in seconds since 1970, by the clock of this host.
double seconds_since_1970();

/// Returns the time as "2026-11-22T16:30:00Z".
std::string utc_now();

/// Returns the local time as "20261122-163000", which distinguishes folders with equal names.
std::string time_stamp();

}  // namespace convoke::os
