#include "convoke/data_prep/traces/window.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "convoke/core/error.hpp"
#include "convoke/core/text.hpp"
#include "convoke/data_prep/files/number.hpp"

namespace convoke::data_prep {
namespace {

using Requests = std::span<const Request>;

std::vector<Requests> by_number(Requests requests, std::size_t length) {
  std::vector<Requests> found;
  while (requests.size() >= length) {
    found.push_back(requests.first(length));
    requests = requests.subspan(length);
  }
  if (!requests.empty() && 2 * requests.size() >= length) found.push_back(requests);
  return found;
}

std::vector<Requests> by_time(Requests requests, double seconds) {
  std::vector<Requests> found;
  if (requests.empty()) return found;
  const double start = requests.front().time;
  const auto number = [&](const Request& request) { return std::floor((request.time - start) / seconds); };
  while (!requests.empty()) {
    const double first = number(requests.front());
    const auto end = std::find_if(requests.begin(), requests.end(),
                                  [&](const Request& request) { return number(request) > first; });
    const auto length = static_cast<std::size_t>(end - requests.begin());
    found.push_back(requests.first(length));
    requests = requests.subspan(length);
  }
  return found;
}

}  // namespace

Window window_from(const std::string& text) {
  const bool timed = text.ends_with('s');
  const std::optional<double> number = number_in(timed ? text.substr(0, text.size() - 1) : text);
  const bool valid = number && std::isfinite(*number) && *number > 0 && *number < 1e15 &&
                     (timed || *number == std::floor(*number));
  if (!valid) {
    throw Error(fmt::format("--window {}: is not a number of requests or a time", text),
                "write for example --window 256 or --window 0.5s");
  }
  if (timed) return {.seconds = *number};
  return {.requests = static_cast<std::int64_t>(*number)};
}

std::string to_string(const Window& window) {
  return window.requests > 0 ? counted(window.requests, "request") : fmt::format("{} s", window.seconds);
}

std::vector<Requests> windows(Requests requests, const Window& window) {
  return window.requests > 0 ? by_number(requests, static_cast<std::size_t>(window.requests))
                             : by_time(requests, window.seconds);
}

}  // namespace convoke::data_prep
