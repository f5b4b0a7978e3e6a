#include "convoke/data_prep/traces/io_features.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <unordered_map>

#include "convoke/core/error.hpp"
#include "convoke/core/text.hpp"
#include "convoke/data_prep/files/numbers.hpp"

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

void sort_by_time(std::vector<Request>& requests) {
  std::stable_sort(requests.begin(), requests.end(),
                   [](const Request& a, const Request& b) { return a.time < b.time; });
}

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

std::array<double, 5> values(const IoFeatures& features) {
  return {static_cast<double>(features.smallest), features.mean, static_cast<double>(features.largest),
          static_cast<double>(features.files), features.distance};
}

IoFeatures io_features(std::span<const Request> requests) {
  ensure(!requests.empty(), "a window has requests");
  IoFeatures seen{.smallest = requests[0].size, .largest = requests[0].size};
  std::unordered_map<std::int32_t, std::int64_t> ends;  // of the last request to each file
  std::int64_t neighbors = 0;
  for (const Request& request : requests) {
    seen.smallest = std::min(seen.smallest, request.size);
    seen.largest = std::max(seen.largest, request.size);
    seen.mean += static_cast<double>(request.size);
    const auto [end, first] = ends.try_emplace(request.file, 0);
    if (!first) {
      seen.distance += static_cast<double>(std::abs(request.offset - end->second));
      ++neighbors;
    }
    end->second = request.offset + request.size;
  }
  seen.mean /= static_cast<double>(requests.size());
  seen.distance /= static_cast<double>(std::max<std::int64_t>(1, neighbors));
  seen.files = static_cast<std::int64_t>(ends.size());
  return seen;
}

}  // namespace convoke::data_prep
