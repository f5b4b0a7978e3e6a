#pragma once
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>

namespace convoke::os {

/// Counts events, and lets threads wait for them (Reed and Kanodia, "Synchronization with eventcounts and
/// sequencers", 1979). In shared memory, threads of several processes can use it; memory of zeros is a new
/// one. A waiting thread spins at first, since most waits are short, and then sleeps in the kernel (a futex),
/// so that its core is free for those who still work.
class alignas(64) EventCount {
 public:
  /// The number of events so far, modulo 2^32.
  std::uint32_t count() const { return count_.load(std::memory_order_acquire); }
  /// Counts an event and wakes all who wait.
  void advance();

  /// Returns when done() is true. Whoever makes it true calls advance() afterwards.
  template <class Done>
  void await(const Done& done) {
    for (int spin = 0; spin < kSpins; ++spin) {
      if (done()) return;
      pause();
    }
    while (!done()) {
      sleepers_.fetch_add(1);
      const std::uint32_t seen = count_.load();
      if (!done()) sleep(seen);
      sleepers_.fetch_sub(1);
    }
  }

 private:
  static const int kSpins;

  static void pause() {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
  }
  void sleep(std::uint32_t seen);

  // Both (count, look for sleepers) and (become a sleeper, look at the count) are sequentially consistent, so
  // that no event is missed.
  std::atomic<std::uint32_t> count_{0};
  std::atomic<std::uint32_t> sleepers_{0};
};
static_assert(std::atomic<std::uint32_t>::is_always_lock_free, "processes share it");

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
