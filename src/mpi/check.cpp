#include "mpi/check.hpp"

#include <fmt/format.h>

#include <array>
#include <string>

#include "convoke/core/error.hpp"
#include "convoke/mpi/session.hpp"

namespace convoke::mpi {

void end_after_failure(int result, const char* call) {
  std::array<char, MPI_MAX_ERROR_STRING> reason{};
  int length = 0;
  MPI_Error_string(result, reason.data(), &length);
  Session::abort(
      Error(fmt::format("{} failed: {}", call, std::string(reason.data(), static_cast<std::size_t>(length))),
            "look at the hosts and the links between them, then continue with convoke train --resume RUN"));
}

}  // namespace convoke::mpi
