#include "nn/plan/placement.hpp"

#include "nn/plan/plan_builder.hpp"

namespace convoke::nn {

ArenaPlan place_buffers(const PlanBuilder& builder) {
  // Times: the input is written before the first step; the loss lies between forward and backward.
  std::vector<BufferUse> buffers(builder.buffer_bytes.size());
  for (std::size_t i = 0; i < buffers.size(); ++i) buffers[i].bytes = builder.buffer_bytes[i];
  const auto use = [&](Ref ref, std::size_t time) {
    if (ref.place == Ref::Place::kActivation) buffers[ref.id].once.use_at(time);
  };
  const auto use_back = [&](Ref ref, std::size_t time) {
    if (ref.place == Ref::Place::kActivation && builder.recomputed.contains(ref.id)) {
      buffers[ref.id].again.use_at(time);
    } else {
      use(ref, time);
    }
  };
  use(builder.input.ref, 0);
  std::size_t time = 1;
  for (const Step& step : builder.forward) {
    for (const Ref ref : step.uses) use(ref, time);
    ++time;
  }
  for (const Tensor* tensor : {&builder.output, &builder.logits, &builder.loss_gradient}) {
    if (*tensor) use(tensor->ref, time);
  }
  ++time;
  for (const Step& step : builder.backward) {
    for (const Ref ref : step.uses) use_back(ref, time);
    ++time;
  }
  return place(buffers);
}

}  // namespace convoke::nn
