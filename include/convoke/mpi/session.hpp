#pragma once
#include <exception>
#include <string>

#include "convoke/mpi/communicator.hpp"

namespace convoke::mpi {

/// MPI_Init_thread and MPI_Finalize as a scope; made by the program, never by the library. If MPI runs already, joins
/// it and leaves it running.
class Session {
 public:
  Session();
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  const Communicator& world() const { return world_; }
  double init_seconds() const { return init_seconds_; }

  /// Prints `[rank r host h] error: ... hint: ...` and ends all ranks with `code`. The message of an error that all
  /// ranks have alike is printed once.
  [[noreturn]] void abort(const std::exception& error, int code = 1) const;

  static std::string library_version();  ///< "Open MPI v4.1.4"
  static std::string host();

 private:
  bool owns_ = false;
  double init_seconds_ = 0;
  Communicator world_;
};

}  // namespace convoke::mpi
