#pragma once
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "convoke/core/timeline.hpp"

namespace convoke::run {

/// Writes files while training goes on: one thread does the given work, piece by piece. It stores failures as
/// text and continues with the next piece. If the system gives no thread, the caller does the work. Used by
/// one thread.
class BackgroundWriter {
 public:
  using Work = std::function<void()>;

  BackgroundWriter() = default;
  ~BackgroundWriter();  ///< finishes the given work
  BackgroundWriter(const BackgroundWriter&) = delete;
  BackgroundWriter& operator=(const BackgroundWriter&) = delete;

  /// Returns true once all given work is done; false if it is not done after `patience`.
  bool ready(std::chrono::milliseconds patience);
  /// Passes on work that owns everything it needs; waits until earlier work is done.
  void give(Work work);
  /// Returns when all given work is done.
  void wait();
  /// Returns the failures since the last call.
  std::vector<std::string> failures();
  /// Seconds that the longest piece of work took.
  double longest_seconds();

 private:
  void serve();
  void carry_out(const Work& work);

  std::mutex mutex_;
  std::condition_variable changed_;
  Work work_;  // in progress or waiting; empty: no work
  std::vector<std::string> failures_;
  double longest_seconds_ = 0;
  bool ends_ = false;
  Timeline* timeline_ = Timeline::current();
  std::jthread thread_;  // starts with the first work
};

}  // namespace convoke::run
