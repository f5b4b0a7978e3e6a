#include "mpi/launcher_watch.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <string>
#include <string_view>

#include "convoke/os/process.hpp"

namespace convoke::mpi {
namespace {

/// True if the first process of a container, which adopts orphans, is itself the launcher.
bool parent_launches() {
  constexpr std::array<std::string_view, 4> kBeginnings{"mpi", "orte", "prte", "hydra"};
  const std::string name = os::parent_name();
  return std::any_of(kBeginnings.begin(), kBeginnings.end(),
                     [&](std::string_view beginning) { return name.starts_with(beginning); });
}

void end_if_orphaned(pid_t launcher) {
  const pid_t parent = getppid();
  if (parent == launcher && (parent != 1 || parent_launches())) return;
  std::_Exit(EXIT_FAILURE);  // without a message: output went through the launcher
}

}  // namespace

LauncherWatch::LauncherWatch()
    : launcher_(getppid()), thread_(std::chrono::seconds(1), [this] { end_if_orphaned(launcher_); }) {}

}  // namespace convoke::mpi
