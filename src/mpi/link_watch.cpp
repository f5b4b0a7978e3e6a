#include "mpi/link_watch.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cstdint>

#include "convoke/core/error.hpp"
#include "convoke/core/text.hpp"
#include "convoke/mpi/session.hpp"
#include "convoke/os/environment.hpp"
#include "convoke/os/silent_peers.hpp"

namespace convoke::mpi {
namespace {

constexpr const char* kVariable = "CONVOKE_LINK_TIMEOUT";
constexpr std::int64_t kSeconds = 60;
constexpr int kLooks = 8;       // within this time
constexpr int kExitLost = 205;  // as Open MPI's mpirun when it loses a host: job scripts requeue the job

}  // namespace

std::unique_ptr<os::PeriodicThread> watch_links() {
  const std::int64_t seconds = os::number_in(kVariable).value_or(kSeconds);
  if (seconds <= 0) return nullptr;
  const std::chrono::milliseconds interval(1000 * seconds / kLooks);
  return std::make_unique<os::PeriodicThread>(interval, [seconds] {
    const std::vector<std::string> peers = os::silent_peers(static_cast<double>(seconds));
    if (peers.empty()) return;
    Session::abort(
        Error(fmt::format("{} has not answered for {} s: the network is cut, or the host is down",
                          join(peers), seconds),
              "check the hosts and the links between them, then continue with convoke train --resume RUN; "
              "export CONVOKE_LINK_TIMEOUT=SECONDS to wait longer"),
        kExitLost);
  });
}

}  // namespace convoke::mpi
