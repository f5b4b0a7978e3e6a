#pragma once
#include <mpi.h>

namespace convoke::mpi {

/// Ends all ranks with an error that names this rank and the call.
[[noreturn]] void end_after_failure(int result, const char* call);

/// Ends all ranks if an MPI call has failed: the others wait for this one in the same call, so no rank could
/// agree on an exception.
inline void check(int result, const char* call) {
  if (result != MPI_SUCCESS) [[unlikely]]
    end_after_failure(result, call);
}

}  // namespace convoke::mpi
