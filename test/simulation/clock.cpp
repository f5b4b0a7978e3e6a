// Time within a simulated world: the clock that std::chrono and os::Stopwatch read, and sleeps.
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cmath>

#include "world.hpp"

extern "C" {

int clock_gettime(clockid_t id, timespec* time) noexcept {
  const simulation::World* world = simulation::World::current();
  if (world == nullptr) return static_cast<int>(syscall(SYS_clock_gettime, id, time));
  const double seconds = 1e6 + world->now();
  time->tv_sec = static_cast<time_t>(seconds);
  time->tv_nsec = static_cast<long>((seconds - std::floor(seconds)) * 1e9);
  return 0;
}

// A sleeper may be woken late, the later the longer nothing has happened: a job that stands still is soon
// found.
int nanosleep(const timespec* time, timespec* left) {
  simulation::World* world = simulation::World::current();
  if (world == nullptr) return static_cast<int>(syscall(SYS_nanosleep, time, left));
  const double asked = static_cast<double>(time->tv_sec) + 1e-9 * static_cast<double>(time->tv_nsec);
  world->sleep(asked * static_cast<double>(1 + world->below(60)) + world->idle() / 8);
  return 0;
}
}
