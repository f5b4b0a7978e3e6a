#include "nn/plan/arena.hpp"

#include <numeric>

namespace convoke::nn {

ArenaPlan place(const std::vector<BufferUse>& buffers) {
  constexpr std::size_t kAlign = 64;
  ArenaPlan plan;
  plan.offsets.assign(buffers.size(), 0);
  std::vector<std::size_t> order(buffers.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return buffers[a].bytes > buffers[b].bytes; });
  std::vector<std::size_t> placed;  // by offset
  for (const std::size_t i : order) {
    if (!buffers[i].used()) continue;
    std::size_t offset = 0;
    for (const std::size_t j : placed) {
      if (!buffers[i].overlaps(buffers[j])) continue;
      if (offset + buffers[i].bytes <= plan.offsets[j]) break;
      offset = std::max(offset, (plan.offsets[j] + buffers[j].bytes + kAlign - 1) / kAlign * kAlign);
    }
    plan.offsets[i] = offset;
    plan.bytes = std::max(plan.bytes, (offset + buffers[i].bytes + kAlign - 1) / kAlign * kAlign);
    placed.insert(
        std::upper_bound(placed.begin(), placed.end(), i,
                         [&](std::size_t a, std::size_t b) { return plan.offsets[a] < plan.offsets[b]; }),
        i);
  }
  return plan;
}

}  // namespace convoke::nn
