#pragma once
#include <cstdint>

namespace convoke {

/// Tells a thread that watches what the main thread of this process does. The main thread trains and makes
/// the calls of MPI. It only stores some words, so a step does not become slower.
class RankStatus {
 public:
  struct Reading {
    const char* phase = nullptr;      ///< "evaluation": the innermost phase (core/timeline.hpp); null: none
    std::int64_t step = -1;           ///< the newest that has begun, counted from 0; -1: none
    const char* waits_for = nullptr;  ///< "a barrier", see ScopedWait; null: the thread works
    std::uint64_t waits = 0;          ///< number of waits so far: equal in two readings within one wait
  };
  /// Any thread may call it.
  static Reading read();

  /// Enters a phase, and returns the one that it is within, to enter again afterwards. For Span.
  static const char* enter(const char* phase);
  static void begin_step(std::int64_t step);
};

/// A scope in which the main thread waits for other ranks and can do nothing else. Within another such scope
/// it has no effect.
class ScopedWait {
 public:
  /// `what`: for people, as in "waits for a barrier"; must exist as long as the process.
  explicit ScopedWait(const char* what);
  ~ScopedWait();
  ScopedWait(const ScopedWait&) = delete;
  ScopedWait& operator=(const ScopedWait&) = delete;

 private:
  bool outermost_;
};

}  // namespace convoke
