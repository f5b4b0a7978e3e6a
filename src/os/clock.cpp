#include "convoke/os/clock.hpp"

#include <ctime>

namespace convoke::os {
namespace {

std::string formatted(const std::tm& time, const char* format) {
  char text[32];
  std::strftime(text, sizeof text, format, &time);
  return text;
}

double seconds_of(clockid_t clock) {
  std::timespec time{};
  clock_gettime(clock, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

}  // namespace

double thread_cpu_seconds() { return seconds_of(CLOCK_THREAD_CPUTIME_ID); }
double process_cpu_seconds() { return seconds_of(CLOCK_PROCESS_CPUTIME_ID); }

double seconds_since_1970() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

std::string utc_now() {
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&now, &utc);
  return formatted(utc, "%Y-%m-%dT%H:%M:%SZ");
}

std::string time_stamp() {
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  localtime_r(&now, &local);
  return formatted(local, "%Y%m%d-%H%M%S");
}

}  // namespace convoke::os
