#include "convoke/os/broken_pipes.hpp"

#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

namespace convoke::os {
namespace {

// The signal does not tell which write failed, but a pipe without a reader is in the state POLLERR. Makes
// only async-signal-safe calls.
void handle_broken_pipe(int signal) {
  const int error = errno;
  pollfd streams[]{{STDOUT_FILENO, 0, 0}, {STDERR_FILENO, 0, 0}};
  const bool answered = poll(streams, 2, 0) > 0;
  if (answered && ((streams[0].revents | streams[1].revents) & POLLERR) != 0) {
    std::signal(signal, SIG_DFL);
    std::raise(signal);  // arrives when this handler returns
  }
  errno = error;
}

}  // namespace

void survive_broken_pipes() {
  struct sigaction now {};
  sigaction(SIGPIPE, nullptr, &now);
  if ((now.sa_flags & SA_SIGINFO) != 0 || now.sa_handler != SIG_DFL) return;
  struct sigaction action {};
  action.sa_handler = handle_broken_pipe;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  sigaction(SIGPIPE, &action, nullptr);
}

}  // namespace convoke::os
