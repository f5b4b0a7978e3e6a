#include "convoke/slurm/time_limit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "convoke/core/error.hpp"
#include "convoke/core/text.hpp"

namespace convoke::slurm {
namespace {

constexpr std::int64_t kMinute = 60, kHour = 3600, kDay = 86400;

// Returns the numbers between colons; empty if there is any other text.
std::vector<std::int64_t> numbers_in(std::string_view text) {
  std::vector<std::int64_t> numbers;
  for (std::string_view rest = text;;) {
    const std::size_t end = std::min(rest.find(':'), rest.size());
    const std::int64_t number = parse_number<std::int64_t>(rest.substr(0, end)).value_or(-1);
    if (number < 0 || number > 100000) return {};
    numbers.push_back(number);
    if (end == rest.size()) return numbers;
    rest.remove_prefix(end + 1);
  }
}

}  // namespace

std::int64_t parse_time(std::string_view text, const std::string& what) {
  if (text == "infinite" || text == "UNLIMITED") return kUnlimited;
  const std::size_t dash = text.find('-');
  const bool with_days = dash != std::string_view::npos;
  const std::vector<std::int64_t> days = numbers_in(with_days ? text.substr(0, dash) : "0");
  const std::vector<std::int64_t> rest = numbers_in(with_days ? text.substr(dash + 1) : text);
  if (days.size() != 1 || rest.empty() || rest.size() > 3) {
    throw Error(fmt::format("{}: \"{}\" is not a time", what, text),
                "write minutes, hours:minutes:seconds or days-hours, such as 90, 1:30:00 or 2-12");
  }
  const auto at = [&](std::size_t i) { return i < rest.size() ? rest[i] : 0; };
  if (with_days) return days[0] * kDay + at(0) * kHour + at(1) * kMinute + at(2);
  if (rest.size() == 3) return at(0) * kHour + at(1) * kMinute + at(2);
  return at(0) * kMinute + at(1);
}

std::string format_time(std::int64_t seconds) {
  const std::string clock =
      fmt::format("{:02}:{:02}:{:02}", seconds % kDay / kHour, seconds % kHour / kMinute, seconds % kMinute);
  return seconds < kDay ? clock : fmt::format("{}-{}", seconds / kDay, clock);
}

}  // namespace convoke::slurm
