#pragma once
#include <exception>
#include <memory>
#include <string>

#include "convoke/mpi/communicator.hpp"

namespace convoke::os {
class PeriodicThread;
}

namespace convoke::mpi {

/// MPI_Init_thread and MPI_Finalize as a scope; created by the program, never by the library. If MPI already
/// runs, joins it and leaves it running. One thread makes all calls; any other may call abort() (the watchdog
/// does).
///
/// Works without mpirun, as a world of one rank. If an exception leaves the scope, MPI is left running: the
/// other ranks are not in MPI_Finalize, and an outer handler can still call abort().
///
/// With several hosts, a thread watches the TCP connections to other hosts, and calls abort() with an error
/// that names the host if one has not answered for a minute (CONVOKE_LINK_TIMEOUT, in seconds; 0: never).
class Session {
 public:
  /// Throws Error if it initializes an MPI library that provides less than MPI_THREAD_SERIALIZED.
  Session();
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  const Communicator& world() const { return world_; }
  double init_seconds() const { return init_seconds_; }  ///< in MPI_Init_thread; 0 if MPI already ran

  /// Prints `[rank r host h] error: ... hint: ...` and ends all ranks with `code` (under the mpirun of Open
  /// MPI 5 with 1, see docs/training.md). An error that all ranks throw is printed once: rank 0 prints at
  /// once, the others only if they are still alive after a short delay. The message is the last output: Open
  /// MPI's banner is suppressed, and a process without mpirun exits directly. Under Open MPI's mpirun, an
  /// error before MPI_Init is reported in the same way.
  [[noreturn]] static void abort(const std::exception& error, int code = 1);

  /// Ends all ranks with `code`, not 0, which is a result and not an error, after all output and without the
  /// banners of Open MPI 4. Collective.
  [[noreturn]] void end(int code) const;

  static std::string library_version();  ///< "Open MPI v4.1.4"

 private:
  double init_seconds_ = 0;
  bool owns_;
  int exceptions_;  ///< in flight when the scope was entered
  Communicator world_;
  std::unique_ptr<os::PeriodicThread> links_;  ///< ends the job when a host is cut off; null: one host
};

}  // namespace convoke::mpi
