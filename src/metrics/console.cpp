#include "convoke/metrics/console.hpp"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

namespace convoke::metrics {
namespace {

// The terminal that this process' stderr ends up on, or -1. The descriptor may be one of our own opening.
//
// mpirun reads what its ranks write through a pipe and passes it on at once, so a rank on the node of mpirun,
// whose child it is, writes to a terminal if mpirun does.
int find_terminal() {
  const char* const kind = std::getenv("TERM");
  if (kind == nullptr || std::string(kind) == "dumb") return -1;
  if (isatty(STDERR_FILENO) == 1) return STDERR_FILENO;
  if (std::getenv("OMPI_COMM_WORLD_RANK") == nullptr && std::getenv("PMIX_RANK") == nullptr) return -1;
  const std::string stderr_of_parent = "/proc/" + std::to_string(getppid()) + "/fd/2";
  const int terminal = open(stderr_of_parent.c_str(), O_WRONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
  if (terminal >= 0 && isatty(terminal) != 1) {
    close(terminal);
    return -1;
  }
  return terminal;
}

struct Terminal {
  int descriptor = find_terminal();
  Terminal() = default;
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;
  ~Terminal() {
    if (descriptor > STDERR_FILENO) close(descriptor);
  }
  int width() const {
    if (descriptor < 0) return 0;
    winsize size{};
    return ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
  }
};

}  // namespace

Console standard_error() {
  return {
      .write =
          [](std::string_view text) {
            std::fwrite(text.data(), 1, text.size(), stderr);
            std::fflush(stderr);
          },
      .now =
          [] {
            return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
          },
      .width = [terminal = std::make_shared<Terminal>()] { return terminal->width(); }};
}

}  // namespace convoke::metrics
