#include "convoke/run/stop_agreement.hpp"

#include <algorithm>
#include <cmath>

#include "convoke/os/stop_signals.hpp"

namespace convoke::run {

StopReason StopAgreement::mine() {
  if (const int signal = os::StopSignals::received(); signal != 0) return StopReason::by_signal(signal);
  if (deadline_ && std::chrono::steady_clock::now() >= *deadline_) return StopReason::out_of_time();
  return calls_.heard();
}

StopReason StopAgreement::after_step() {
  if (++step_ < next_) return {};
  double agreed[] = {static_cast<double>(mine().number()), watch_.seconds() / static_cast<double>(step_)};
  group_.max(agreed);
  // About as many steps as the slowest rank makes in a second; equal on all ranks, since both numbers are.
  const double steps = agreed[1] > 0 ? std::min(1.0 / agreed[1], 1e6) : 1;
  next_ = step_ + std::max<std::int64_t>(1, std::llround(steps));
  const StopReason reason = StopReason::from(std::llround(agreed[0]));
  if (reason && group_.root()) calls_.call(reason);
  return reason;
}

}  // namespace convoke::run
