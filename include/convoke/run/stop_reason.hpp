#pragma once
#include <cstdint>
#include <string>

namespace convoke::run {

/// The exit code of a job that was stopped and can be resumed: "requeue me" (EX_TEMPFAIL is 75; scheduler
/// scripts check for this code).
inline constexpr int kExitRequeue = 85;

/// Why training stops before its end. Stored as a number, so that ranks can agree on the largest.
class StopReason {
 public:
  StopReason() = default;  ///< training does not stop
  static StopReason out_of_time() { return StopReason(1); }
  static StopReason by_signal(int signal) { return StopReason(1 + signal); }
  static StopReason from(std::int64_t number) { return StopReason(number); }

  std::int64_t number() const { return number_; }
  explicit operator bool() const { return number_ != 0; }
  /// "SIGUSR1", "the end of the job's time".
  std::string to_string() const;

 private:
  explicit StopReason(std::int64_t number) : number_(number) {}
  std::int64_t number_ = 0;
};

}  // namespace convoke::run
