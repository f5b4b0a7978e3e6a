#include "convoke/engine/progress_thread.hpp"

#include <chrono>

#include "convoke/os/thread.hpp"

namespace convoke::engine {

ProgressThread::ProgressThread(sync::AllReduce& exchange)
    : exchange_(exchange), thread_(os::start_thread([this] { serve(); })) {}

ProgressThread::~ProgressThread() {
  ends_ = true;
  thread_.join();
}

// Never waits for the lock: whoever holds it makes progress.
void ProgressThread::serve() {
  constexpr std::chrono::microseconds kPause(1000);
  while (!ends_) {
    if (const std::unique_lock lock(mutex_, std::try_to_lock); lock && runs_) exchange_.poll();
    std::this_thread::sleep_for(kPause);
  }
}

}  // namespace convoke::engine
