#include "convoke/os/stop_signals.hpp"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>

namespace convoke::os {
namespace {

volatile std::sig_atomic_t received_signal = 0;

// Writing to a terminal that was closed fails, and the error would end the run before its checkpoint. Makes
// only async-signal-safe calls.
void drop_output_to_closed_terminal() {
  const int error = errno;
  for (const int stream : {STDOUT_FILENO, STDERR_FILENO}) {
    pollfd state{stream, 0, 0};
    if (poll(&state, 1, 0) <= 0 || (state.revents & (POLLHUP | POLLERR)) == 0) continue;
    const int nowhere = open("/dev/null", O_WRONLY);
    dup2(nowhere, stream);
    close(nowhere);
  }
  errno = error;
}

void receive(int signal) {
  received_signal = signal;
  if (signal == SIGHUP) drop_output_to_closed_terminal();
}

}  // namespace

StopSignals::StopSignals() : stack_(kStackBytes) {
  received_signal = 0;
  const stack_t own_stack{.ss_sp = stack_.data(), .ss_flags = 0, .ss_size = stack_.size()};
  sigaltstack(&own_stack, &stack_before_);
  struct sigaction action {};
  action.sa_handler = receive;
  sigemptyset(&action.sa_mask);
  for (std::size_t i = 0; i < kSignals.size(); ++i) {
    sigaction(kSignals[i], nullptr, &before_[i]);
    if (kSignals[i] == SIGHUP && before_[i].sa_handler == SIG_IGN) continue;
    // Launchers and schedulers may both send SIGTERM, so only a second Ctrl-C ends the process.
    action.sa_flags = SA_RESTART | SA_ONSTACK | (kSignals[i] == SIGINT ? static_cast<int>(SA_RESETHAND) : 0);
    sigaction(kSignals[i], &action, nullptr);
  }
  sigset_t all;
  sigemptyset(&all);
  for (const int signal : kSignals) sigaddset(&all, signal);
  pthread_sigmask(SIG_UNBLOCK, &all, &mask_before_);
}

StopSignals::~StopSignals() {
  pthread_sigmask(SIG_SETMASK, &mask_before_, nullptr);
  for (std::size_t i = 0; i < kSignals.size(); ++i) {
    if ((received_signal != 0 || ignored_after_) && kSignals[i] != SIGINT) {
      std::signal(kSignals[i], SIG_IGN);
    } else {
      sigaction(kSignals[i], &before_[i], nullptr);
    }
  }
  sigaltstack(&stack_before_, nullptr);
}

int StopSignals::received() { return received_signal; }

}  // namespace convoke::os
