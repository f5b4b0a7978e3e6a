#include "interop/slice_indices.hpp"

#include <algorithm>

namespace convoke::interop {

std::vector<std::int64_t> slice_indices(std::int64_t extent, std::int64_t start, std::int64_t end,
                                        std::int64_t step) {
  const auto from_start = [&](std::int64_t at) { return at < 0 ? std::max(at, -extent - 1) + extent : at; };
  const std::int64_t low = step > 0 ? 0 : -1, high = step > 0 ? extent : extent - 1;
  const std::int64_t last = std::clamp(from_start(end), low, high);
  std::vector<std::int64_t> indices;
  for (std::int64_t at = std::clamp(from_start(start), low, high); step > 0 ? at < last : at > last;
       at += step) {
    indices.push_back(at);
    if (step > extent || step < -extent) break;
  }
  return indices;
}

std::vector<std::pair<std::int64_t, std::int64_t>> runs_of(const std::vector<std::int64_t>& indices) {
  std::vector<std::pair<std::int64_t, std::int64_t>> runs;
  for (const std::int64_t index : indices) {
    if (!runs.empty() && index == runs.back().first + runs.back().second) {
      ++runs.back().second;
    } else {
      runs.emplace_back(index, 1);
    }
  }
  return runs;
}

}  // namespace convoke::interop
