#include "convoke/data_prep/traces/io_features.hpp"

#include <algorithm>
#include <cstdlib>
#include <unordered_map>

#include "convoke/core/error.hpp"

namespace convoke::data_prep {

void sort_by_time(std::vector<Request>& requests) {
  std::stable_sort(requests.begin(), requests.end(),
                   [](const Request& a, const Request& b) { return a.time < b.time; });
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
