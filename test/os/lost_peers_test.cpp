#include "convoke/os/lost_peers.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

#include "support/catch.hpp"

namespace {

/// Runs `work` in a child whose standard output is a pipe, which has a reader unless `closed`. Returns the
/// exit code; 128 + the signal that ended the child.
template <class Work>
int code_of(bool closed, Work work) {
  int output[2];
  REQUIRE(pipe(output) == 0);
  const pid_t child = fork();
  if (child == 0) {
    dup2(output[1], STDOUT_FILENO);
    close(output[1]);
    if (closed) {
      close(output[0]);
      pollfd no_reader{STDOUT_FILENO, 0, 0};
      poll(&no_reader, 1, -1);  // until the parent, too, has closed its end
    }
    convoke::os::survive_broken_pipes();
    _exit(work());
  }
  close(output[1]);
  if (closed) close(output[0]);
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  if (!closed) close(output[0]);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/// Returns the reason why a write to a connection without a peer fails.
int write_to_lost_peer() {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) return 0;
  close(ends[1]);
  return write(ends[0], "x", 1) == -1 ? errno : 0;
}

}  // namespace

TEST_CASE("a write to a lost peer fails, and does not end the process") {
  std::signal(SIGPIPE, SIG_DFL);
  CHECK(code_of(false, write_to_lost_peer) == EPIPE);
  CHECK(code_of(false, [] { return write_to_lost_peer() + write_to_lost_peer(); }) == 2 * EPIPE);
}

TEST_CASE("output that nobody reads ends the process by SIGPIPE") {
  std::signal(SIGPIPE, SIG_DFL);
  CHECK(code_of(true, [] { return static_cast<int>(write(STDOUT_FILENO, "x", 1)); }) == 128 + SIGPIPE);
}

TEST_CASE("a program that ignores SIGPIPE keeps its choice") {
  std::signal(SIGPIPE, SIG_IGN);
  CHECK(code_of(true, [] { return write(STDOUT_FILENO, "x", 1) == -1 ? errno : 0; }) == EPIPE);
  std::signal(SIGPIPE, SIG_DFL);
}

// Cut links are tested with hosts: test/multihost/links.sh.
TEST_CASE("a process without connections to other hosts has no silent peers") {
  CHECK(convoke::os::silent_peers(0).empty());
}
