#pragma once
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "convoke/core/timeline.hpp"
#include "convoke/mpi/communicator.hpp"
#include "convoke/os/clock.hpp"
#include "convoke/os/stack_probe.hpp"
#include "convoke/os/thread.hpp"
#include "convoke/run/run_folder.hpp"
#include "convoke/supervise/heartbeat.hpp"

namespace convoke::supervise {

/// The exit code of a job that stood still: it can be continued from its newest checkpoint.
inline constexpr int kExitStalled = 87;

/// Writes the heartbeats of this rank, reads those of the others, and ends the job if it stands still
/// (find_stall): MPI waits for ever for a rank that is stopped or hangs. One rank prints the state of all
/// ranks and its own calls; the job ends with kExitStalled. A thread does this every few seconds; the thread
/// that trains has no work with it.
/// The time is counted only while this process runs, so a job that was suspended as a whole can continue.
class Watchdog {
 public:
  /// Call it in the main thread. `run`: the run folder, which all hosts should see: a rank of another host
  /// that does not see it is not watched, and rank 0 prints a warning. `timeout`: seconds; 0: never end the
  /// job. Removes earlier heartbeats. Takes over from `before`, which watched the job until here. Collective
  /// over `world`. Throws Error if rank 0 cannot write.
  Watchdog(const std::filesystem::path& run, double timeout, const mpi::Communicator& world,
           std::unique_ptr<Watchdog> before = nullptr);

  /// Watches a job that has no run folder, or none yet: the heartbeats are in the hidden folder
  /// `.NAME.heartbeats`, in the existing folder nearest to `output`, and the folder is removed at the end.
  /// Returns null, and watches nothing, if there is one rank or no timeout, if the folder cannot be written,
  /// or if another job with this output writes its heartbeats there. `hint`: what to do after a stall.
  static std::unique_ptr<Watchdog> beside(const std::filesystem::path& output, double timeout,
                                          const std::string& hint, const mpi::Communicator& world);
  ~Watchdog();  ///< removes the heartbeat of this rank: it has ended
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

 private:
  Watchdog(std::filesystem::path folder, std::string hint, double timeout, const mpi::Communicator& world);
  void work();
  bool beat(double elapsed);  ///< false: the file cannot be written
  void check_heartbeats(double elapsed);
  void end_job(const Stall& stall);

  std::filesystem::path folder_;
  std::shared_ptr<run::RunLock> lock_;  ///< of the folder, if it is beside an output; rank 0
  std::string hint_;
  double timeout_;
  double interval_;  ///< seconds
  bool checks_;      ///< some ranks watch all others
  Heartbeat mine_;
  std::uint64_t last_wait_ = 0;
  std::vector<RankLiveness> ranks_;
  bool suspected_ = false;  ///< the last look found a stall
  os::Stopwatch since_;     ///< since the last work
  os::StackProbe probe_;
  std::optional<os::PeriodicThread> thread_;
};

/// True if ranks of the newest job of `run` stood still, and one of them has reported it.
bool has_reported_stall(const std::filesystem::path& run);

/// Removes that report, unless a job runs in `run`. Call it before a job begins, whose own errors would count
/// as the stall otherwise.
void forget_stall(const std::filesystem::path& run);

}  // namespace convoke::supervise
