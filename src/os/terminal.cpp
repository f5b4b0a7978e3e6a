#include "convoke/os/terminal.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "convoke/os/environment.hpp"

namespace convoke::os {

// mpirun reads the output of its ranks through a pipe and forwards it at once. So a rank on mpirun's node,
// which is its child, writes to a terminal if mpirun does.
Terminal::Terminal() {
  if (variable("TERM").value_or("dumb") == "dumb") return;
  if (::isatty(STDERR_FILENO) == 1) {
    descriptor_ = STDERR_FILENO;
    return;
  }
  if (!variable("OMPI_COMM_WORLD_RANK") && !variable("PMIX_RANK")) return;
  const std::string of_parent = fmt::format("/proc/{}/fd/2", ::getppid());
  own_ = File(of_parent, ::open(of_parent.c_str(), O_WRONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC));
  if (own_ && ::isatty(own_.descriptor()) == 1) descriptor_ = own_.descriptor();
}

int Terminal::width() const {
  if (descriptor_ < 0) return 0;
  winsize size{};
  return ::ioctl(descriptor_, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

}  // namespace convoke::os
