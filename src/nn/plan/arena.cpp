#include "nn/plan/arena.hpp"

#include <numeric>

#include "nn/plan/compiled_plan.hpp"

namespace convoke::nn {

ArenaPlacement place(const std::vector<BufferUse>& buffers) {
  constexpr std::size_t kAlign = 64;
  ArenaPlacement plan;
  plan.offsets.assign(buffers.size(), 0);
  std::vector<std::size_t> order(buffers.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return buffers[a].bytes > buffers[b].bytes; });
  std::vector<std::size_t> placed;  // sorted by offset
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

ArenaPlacement place_buffers(const CompiledPlan& plan) {
  // The input is written at time 0, before the first step. The loss runs between forward and backward.
  std::vector<BufferUse> buffers(plan.buffer_bytes.size());
  for (std::size_t i = 0; i < buffers.size(); ++i) buffers[i].bytes = plan.buffer_bytes[i];
  const auto use = [&](Ref ref, std::size_t time) {
    if (ref.place == Ref::Place::kActivation) buffers[ref.id].once.use_at(time);
  };
  const auto use_back = [&](Ref ref, std::size_t time) {
    if (ref.place == Ref::Place::kActivation && plan.recomputed.contains(ref.id)) {
      buffers[ref.id].again.use_at(time);
    } else {
      use(ref, time);
    }
  };
  use(plan.input.ref, 0);
  std::size_t time = 1;
  for (const Step& step : plan.forward) {
    for (const Ref ref : step.uses) use(ref, time);
    ++time;
  }
  for (const Tensor* tensor : {&plan.output, &plan.logits, &plan.loss_gradient, &plan.converted}) {
    use(tensor->ref, time);
  }
  ++time;
  for (const Step& step : plan.backward) {
    for (const Ref ref : step.uses) use_back(ref, time);
    ++time;
  }
  use(plan.input_gradient.ref, time);
  return place(buffers);
}

}  // namespace convoke::nn
