#include "convoke/os/thread.hpp"

#include <fmt/format.h>

#include <system_error>
#include <utility>

#include "convoke/core/error.hpp"
#include "convoke/os/environment.hpp"
#include "convoke/os/stop_signals.hpp"

namespace convoke::os {

std::jthread start_thread(std::function<void()> work) {
  const BlockedSignals blocked;  // the thread inherits them
  try {
    return std::jthread(std::move(work));
  } catch (const std::system_error& error) {
    throw Error(fmt::format("{}: cannot start a thread: {}", host_name(), error.code().message()),
                "allow more threads (ulimit -u, the limit of the job or of the container), or use fewer: "
                "run.threads, fewer ranks on a host");
  }
}

}  // namespace convoke::os
