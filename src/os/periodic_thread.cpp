#include "convoke/os/periodic_thread.hpp"

#include <utility>

#include "convoke/os/thread.hpp"

namespace convoke::os {

PeriodicThread::PeriodicThread(std::chrono::milliseconds interval, std::function<void()> work) {
  thread_ = start_thread([this, interval, work = std::move(work)] {
    std::unique_lock lock(mutex_);
    while (!ended_.wait_for(lock, interval, [&] { return ends_; })) work();
  });
}

PeriodicThread::~PeriodicThread() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  ended_.notify_all();
  thread_.join();
}

}  // namespace convoke::os
