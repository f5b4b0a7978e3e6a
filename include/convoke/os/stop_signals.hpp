#pragma once
#include <array>
#include <csignal>
#include <cstddef>
#include <vector>

namespace convoke::os {

/// While this object exists, SIGTERM, SIGINT, SIGUSR1 and SIGHUP (a terminal or connection was closed) ask
/// this process to stop at a convenient point instead of ending it. A second SIGINT ends it; another of the
/// others has no effect, also after destruction, so that a process that has stopped on request keeps its exit
/// code. They arrive also if the parent of this process has blocked them. A SIGHUP that the process ignores
/// (nohup) has no effect at all; after another one, output to the closed terminal is dropped. Only one such
/// object may exist at a time. The thread that trains creates it and alone receives signals: all other
/// threads that Convoke starts block them (BlockedSignals).
///
/// The handler has a separate stack: up to version 3.11, oneDNN's generated matrix products set `rsp` to a
/// buffer on the heap (its issue 4845). A handler on the thread's stack would write its frame, some three
/// kilobytes, over the heap below that buffer.
class StopSignals {
 public:
  StopSignals();
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

  /// After destruction, all but SIGINT have no effect: the results are complete, and the exit code says so.
  void ignore_after() { ignored_after_ = true; }

  /// Returns the signal that was received, 0 if none.
  static int received();

 private:
  static constexpr std::array kSignals{SIGTERM, SIGINT, SIGUSR1, SIGHUP};
  static constexpr std::size_t kStackBytes = 64 << 10;  // a frame holds all registers: 11 KiB with AMX

  std::vector<std::byte> stack_;
  stack_t stack_before_{};
  std::array<struct sigaction, kSignals.size()> before_{};
  sigset_t mask_before_{};
  bool ignored_after_ = false;
};

/// Blocks all signals in this thread, and in threads that it starts, while this object exists. Only the
/// thread that trains receives signals, because only it has a stack for their handlers (os/stop_signals.hpp).
class BlockedSignals {
 public:
  BlockedSignals() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~BlockedSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  BlockedSignals(const BlockedSignals&) = delete;
  BlockedSignals& operator=(const BlockedSignals&) = delete;

 private:
  sigset_t before_{};
};

}  // namespace convoke::os
