#pragma once
#include <csignal>

namespace convoke::os {

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
