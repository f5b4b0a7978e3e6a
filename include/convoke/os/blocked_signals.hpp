#pragma once
#include <csignal>

namespace convoke::os {

/// While it lives, this thread gets no signals, and threads that it starts never do: they are for the thread
/// that trains, which is the only one to have a stack for their handlers (os/stop_signals.hpp).
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
