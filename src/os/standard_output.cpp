#include "convoke/os/standard_output.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "convoke/core/error.hpp"
#include "convoke/os/environment.hpp"

namespace convoke::os {

// Network file systems report some errors, such as an exceeded quota, only when a descriptor is closed.
void flush_standard_output() {
  const bool failed_before = standard_output_failed();
  errno = 0;
  bool written = std::fflush(stdout) == 0;
  if (written) {
    const int copy = ::dup(STDOUT_FILENO);
    written = copy < 0 || ::close(copy) == 0;
  }
  if (written && !failed_before) return;
  throw Error("standard output: cannot be written: " +
                  (written ? std::string("a part of it is missing") : reason_of(errno)),
              "free space on the disk, or redirect the output to another disk");
}

bool standard_output_failed() { return std::ferror(stdout) != 0; }

void occupy_standard_streams() {
  for (int stream = STDIN_FILENO; stream <= STDERR_FILENO; ++stream) {
    if (::fcntl(stream, F_GETFD) >= 0 || errno != EBADF) continue;
    ::open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY);  // gets the lowest free number
  }
}

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
