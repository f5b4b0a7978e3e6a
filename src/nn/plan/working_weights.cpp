#include "convoke/nn/plan/working_weights.hpp"

#include <array>
#include <vector>

#include "convoke/core/aligned_buffer.hpp"
#include "convoke/core/error.hpp"
#include "nn/plan/parameter_descriptors.hpp"

namespace convoke::nn {

struct WorkingWeights::Copies {
  struct Reorder {
    dnnl::reorder primitive;
    dnnl::memory from, to, scratch;
    std::array<dnnl_exec_arg_t, 3> arguments;
    std::size_t end;  ///< of its copy, in bytes from the start
  };
  std::shared_ptr<const ParameterLayout> layout;
  AlignedBuffer<std::byte> bytes;
  std::vector<AlignedBuffer<std::byte>> scratch;
  std::vector<Reorder> reorders;
};

WorkingWeights::WorkingWeights(std::shared_ptr<const ParameterLayout> layout, const float* parameters)
    : copies_(std::make_unique<Copies>()) {
  const ParameterLayout::Descriptors& descriptors = layout->descriptors();
  copies_->bytes = AlignedBuffer<std::byte>(descriptors.working_bytes);
  for (const auto& copy : descriptors.working) {
    const Desc& from = descriptors.descs[copy.slot];
    const dnnl::reorder::primitive_desc pd(engine(), from, engine(), copy.desc, attributes());
    copies_->scratch.emplace_back(pd.scratchpad_desc().get_size());
    // Memory that oneDNN only reads still has a type without const.
    auto* const source = const_cast<float*>(parameters) + layout->slots()[copy.slot].offset;
    Copies::Reorder reorder{dnnl::reorder(pd),
                            dnnl::memory(from, engine(), source),
                            dnnl::memory(copy.desc, engine(), copies_->bytes.data() + copy.offset),
                            dnnl::memory(pd.scratchpad_desc(), engine(), copies_->scratch.back().data()),
                            {},
                            copy.offset + copy.desc.get_size()};
    reorder.arguments = {{{DNNL_ARG_FROM, reorder.from.get()},
                          {DNNL_ARG_TO, reorder.to.get()},
                          {DNNL_ARG_SCRATCHPAD, reorder.scratch.get()}}};
    copies_->reorders.push_back(std::move(reorder));
  }
  copies_->layout = std::move(layout);
}

WorkingWeights::~WorkingWeights() = default;

bool WorkingWeights::empty() const { return copies_->reorders.empty(); }
const std::byte* WorkingWeights::data() const { return copies_->bytes.data(); }

// A part makes the copies that end in its share of the bytes.
void WorkingWeights::refresh(int part, int parts) const {
  const std::size_t total = copies_->bytes.size();
  const auto cut = [&](int i) {
    return total * static_cast<std::size_t>(i) / static_cast<std::size_t>(parts);
  };
  for (const Copies::Reorder& reorder : copies_->reorders) {
    if (reorder.end <= cut(part) || reorder.end > cut(part + 1)) continue;
    const dnnl_status_t status =
        dnnl_primitive_execute(reorder.primitive.get(), stream().get(),
                               static_cast<int>(reorder.arguments.size()), reorder.arguments.data());
    if (status != dnnl_success) throw Error("oneDNN failed to convert weights");
  }
}

}  // namespace convoke::nn
