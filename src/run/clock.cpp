#include "convoke/run/clock.hpp"

#include <ctime>

namespace convoke::run {
namespace {

std::string text_of(const std::tm& time, const char* format) {
  char text[32];
  std::strftime(text, sizeof text, format, &time);
  return text;
}

}  // namespace

std::string utc_now() {
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&now, &utc);
  return text_of(utc, "%Y-%m-%dT%H:%M:%SZ");
}

std::string time_stamp() {
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  localtime_r(&now, &local);
  return text_of(local, "%Y%m%d-%H%M%S");
}

}  // namespace convoke::run
