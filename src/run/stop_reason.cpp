#include "convoke/run/stop_reason.hpp"

#include <string.h>

namespace convoke::run {

std::string StopReason::to_string() const {
  if (number_ == 0) return "nothing";
  if (number_ == 1) return "the end of the job's time";
  return std::string("SIG") + ::sigabbrev_np(static_cast<int>(number_ - 1));
}

}  // namespace convoke::run
