#include "convoke/os/thread.hpp"

#include <pthread.h>

#include <csignal>

#include "support/catch.hpp"

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
