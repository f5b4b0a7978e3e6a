#include "convoke/engine/exchange_helper.hpp"

#include <chrono>

#include "convoke/os/thread.hpp"

namespace convoke::engine {

ExchangeHelper::ExchangeHelper(sync::AllReduce& exchange)
    : exchange_(exchange), thread_(os::start_thread([this] { serve(); })) {}

ExchangeHelper::~ExchangeHelper() {
  ends_ = true;
  thread_.join();
}

// Never waits for the lock: whoever holds it makes progress.
void ExchangeHelper::serve() {
  constexpr std::chrono::microseconds kPause(1000);
  while (!ends_) {
    if (const std::unique_lock lock(mutex_, std::try_to_lock); lock && runs_) exchange_.poll();
    std::this_thread::sleep_for(kPause);
  }
}

}  // namespace convoke::engine
