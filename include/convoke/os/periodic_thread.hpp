#pragma once
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

namespace convoke::os {

/// Calls a function at intervals, in a separate thread that receives no signals, until it is destroyed.
class PeriodicThread {
 public:
  /// `work` must not throw.
  PeriodicThread(std::chrono::milliseconds interval, std::function<void()> work);
  ~PeriodicThread();  ///< waits for a running call
  PeriodicThread(const PeriodicThread&) = delete;
  PeriodicThread& operator=(const PeriodicThread&) = delete;

 private:
  std::mutex mutex_;
  std::condition_variable ended_;
  bool ends_ = false;
  std::jthread thread_;
};

}  // namespace convoke::os
