#include "convoke/run/stop_agreement.hpp"

#include <string.h>

#include <algorithm>
#include <cmath>

#include "convoke/run/signals.hpp"

namespace convoke::run {

std::string StopReason::to_string() const {
  if (number_ == 0) return "nothing";
  if (number_ == 1) return "the end of the job's time";
  return std::string("SIG") + ::sigabbrev_np(static_cast<int>(number_ - 1));
}

StopReason StopAgreement::mine() const {
  if (const int signal = StopSignals::received(); signal != 0) return StopReason::by_signal(signal);
  if (deadline_ && std::chrono::steady_clock::now() >= *deadline_) return StopReason::out_of_time();
  return {};
}

StopReason StopAgreement::after_step() {
  if (++step_ < next_) return {};
  double agreed[] = {static_cast<double>(mine().number()), watch_.seconds() / static_cast<double>(step_)};
  group_.max(agreed);
  // About a second's worth of the slowest rank's steps: equal on all ranks, since both numbers are.
  const double steps = agreed[1] > 0 ? std::min(1.0 / agreed[1], 1e6) : 1;
  next_ = step_ + std::max<std::int64_t>(1, std::llround(steps));
  return StopReason::from(std::llround(agreed[0]));
}

}  // namespace convoke::run
