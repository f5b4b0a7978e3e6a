#pragma once
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

namespace convoke::os {

/// Starts a thread that receives no signals (os/stop_signals.hpp). Throws Error if the system gives none.
std::jthread start_thread(std::function<void()> work);

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

/// Asks the system for the shortest time slices for the calling thread, so that it need not wait for the end
/// of a long slice of another program when it wakes (Linux 6.12; ignored by older ones). Its share
/// of the core stays the same. Programs that the thread starts do not inherit it.
void request_short_time_slices();

}  // namespace convoke::os
