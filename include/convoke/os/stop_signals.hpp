#pragma once
#include <array>
#include <csignal>
#include <cstddef>
#include <vector>

namespace convoke::os {

/// While it lives, SIGTERM, SIGINT and SIGUSR1 ask this process to stop at a convenient point instead of
/// ending it. A second SIGINT ends it; another SIGTERM or SIGUSR1 changes nothing, also afterwards, so that a
/// process that has stopped as it was asked to keeps its exit code. One of these at a time, made by the
/// thread that trains, which has the signals to itself: others that we start block them
/// (os/blocked_signals.hpp).
///
/// The handler has a stack of its own: up to 3.11, oneDNN's generated matrix products set `rsp` to a buffer
/// on the heap (its issue 4845), and a handler on the thread's stack would write its frame, some three
/// kilobytes, over what the heap holds below that buffer.
class StopSignals {
 public:
  StopSignals();
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

  /// The signal that has come, 0 if none has.
  static int received();

 private:
  static constexpr std::array kSignals{SIGTERM, SIGINT, SIGUSR1};
  static constexpr std::size_t kStackBytes = 64 << 10;  // a frame holds all registers: AMX makes it 11 KiB

  std::vector<std::byte> stack_;
  stack_t stack_before_{};
  std::array<struct sigaction, 3> before_{};
};

}  // namespace convoke::os
