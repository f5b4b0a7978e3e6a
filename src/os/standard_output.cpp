#include "convoke/os/standard_output.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "convoke/core/error.hpp"
#include "convoke/os/file.hpp"

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

}  // namespace convoke::os
