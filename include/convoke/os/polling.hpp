#pragma once
#include <algorithm>
#include <chrono>
#include <thread>

namespace convoke::os {

/// Returns when done() is true, which has to be called again and again: a call of MPI, for example. Spins at
/// first, since most waits are short, then yields to other threads, and from a millisecond on also sleeps for
/// a twentieth of the time so far, so that the core is free for those who still work. Waits within a node
/// that need no polling are those of EventCount.
template <class Done>
void poll_until(const Done& done) {
  using std::chrono::microseconds, std::chrono::steady_clock;
  for (int spin = 0; spin < 2000; ++spin) {
    if (done()) return;
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
  }
  const auto begin = steady_clock::now();
  while (!done()) {
    const auto so_far = std::chrono::duration_cast<microseconds>(steady_clock::now() - begin);
    if (so_far < microseconds(1000)) {
      std::this_thread::yield();
    } else {
      std::this_thread::sleep_for(std::min(so_far / 20, microseconds(1000)));
    }
  }
}

}  // namespace convoke::os
