#include "convoke/os/thread.hpp"

#include <pthread.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "support/catch.hpp"

namespace {

/// The length of a time slice of this thread in nanoseconds, as Linux tells it from 6.12 on; 0 on older ones.
std::uint64_t nanoseconds_of_slice() {
  std::array<std::uint64_t, 6> attributes{};  // struct sched_attr; the fourth number is sched_runtime
  return ::syscall(SYS_sched_getattr, 0, attributes.data(), 48, 0) == 0 ? attributes[3] : 0;
}

}  // namespace

TEST_CASE("a started thread does its work, and receives no signals") {
  bool done = false;
  sigset_t blocked{};
  {
    const std::jthread thread = convoke::os::start_thread([&] {
      pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
      done = true;
    });
  }
  CHECK(done);
  CHECK(sigismember(&blocked, SIGTERM) == 1);
  CHECK(sigismember(&blocked, SIGURG) == 1);
  pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
  CHECK(sigismember(&blocked, SIGTERM) == 0);
}

TEST_CASE("a thread requests short time slices, and a program that it starts does not inherit them") {
  std::uint64_t before = 0, after = 0;
  int child = -1;
  convoke::os::start_thread([&] {
    before = nanoseconds_of_slice();
    convoke::os::request_short_time_slices();
    after = nanoseconds_of_slice();
    const pid_t other = ::fork();
    if (other == 0) ::_exit(nanoseconds_of_slice() == before ? 0 : 1);
    ::waitpid(other, &child, 0);
  }).join();
  CHECK(child == 0);
  CHECK((before == 0 || after == 100'000));
}
