#include "convoke/os/stop_signals.hpp"

namespace convoke::os {
namespace {

volatile std::sig_atomic_t received_signal = 0;

void receive(int signal) { received_signal = signal; }

}  // namespace

StopSignals::StopSignals() : stack_(kStackBytes) {
  received_signal = 0;
  const stack_t own_stack{.ss_sp = stack_.data(), .ss_flags = 0, .ss_size = stack_.size()};
  sigaltstack(&own_stack, &stack_before_);
  struct sigaction action {};
  action.sa_handler = receive;
  sigemptyset(&action.sa_mask);
  for (std::size_t i = 0; i < kSignals.size(); ++i) {
    // Launchers and schedulers may both send SIGTERM, so only a second Ctrl-C ends the process.
    action.sa_flags = SA_RESTART | SA_ONSTACK | (kSignals[i] == SIGINT ? static_cast<int>(SA_RESETHAND) : 0);
    sigaction(kSignals[i], &action, &before_[i]);
  }
}

StopSignals::~StopSignals() {
  for (std::size_t i = 0; i < kSignals.size(); ++i) {
    if (received_signal != 0 && kSignals[i] != SIGINT) {
      std::signal(kSignals[i], SIG_IGN);
    } else {
      sigaction(kSignals[i], &before_[i], nullptr);
    }
  }
  sigaltstack(&stack_before_, nullptr);
}

int StopSignals::received() { return received_signal; }

}  // namespace convoke::os
