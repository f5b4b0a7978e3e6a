#include "convoke/run/signals.hpp"

#include <algorithm>
#include <cmath>
#include <span>

namespace convoke::run {
namespace {

volatile std::sig_atomic_t stop_requested = 0;

void request_stop(int /*signal*/) { stop_requested = 1; }

}  // namespace

StopSignals::StopSignals() {
  stop_requested = 0;
  struct sigaction action {};
  action.sa_handler = request_stop;
  sigemptyset(&action.sa_mask);
  for (std::size_t i = 0; i < kSignals.size(); ++i) {
    // Launchers and schedulers may both send SIGTERM, so only an impatient Ctrl-C counts as such.
    action.sa_flags = SA_RESTART | (kSignals[i] == SIGINT ? static_cast<int>(SA_RESETHAND) : 0);
    sigaction(kSignals[i], &action, &before_[i]);
  }
}

StopSignals::~StopSignals() {
  for (std::size_t i = 0; i < kSignals.size(); ++i) sigaction(kSignals[i], &before_[i], nullptr);
}

bool StopSignals::requested() { return stop_requested != 0; }

bool StopAgreement::after_step() {
  if (++step_ < next_) return false;
  double agreed[] = {StopSignals::requested() ? 1.0 : 0.0, watch_.seconds() / static_cast<double>(step_)};
  group_.max(agreed);
  // About a second's worth of the slowest rank's steps: equal on all ranks, since both numbers are.
  const double steps = agreed[1] > 0 ? std::min(1.0 / agreed[1], 1e6) : 1;
  next_ = step_ + std::max<std::int64_t>(1, std::llround(steps));
  return agreed[0] > 0;
}

}  // namespace convoke::run
