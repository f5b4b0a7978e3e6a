#include "convoke/nn/plan/working_weights.hpp"

#include <array>
#include <functional>
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

    void run() const {
      const dnnl_status_t status = dnnl_primitive_execute(
          primitive.get(), stream().get(), static_cast<int>(arguments.size()), arguments.data());
      if (status != dnnl_success) throw Error("oneDNN failed to convert weights");
    }
  };
  struct Copy {
    std::function<void()> make;
    std::size_t end;  ///< end of the copy in bytes from the start
  };
  std::shared_ptr<const ParameterLayout> layout;
  AlignedBuffer<std::byte> bytes;
  std::vector<AlignedBuffer<std::byte>> scratch;
  std::vector<Copy> copies;

  std::function<void()> reordering(const Desc& from, float* source, const Desc& to, std::byte* target) {
    const dnnl::reorder::primitive_desc pd(engine(), from, engine(), to, attributes());
    scratch.emplace_back(pd.scratchpad_desc().get_size());
    auto reorder =
        std::make_shared<Reorder>(Reorder{dnnl::reorder(pd),
                                          dnnl::memory(from, engine(), source),
                                          dnnl::memory(to, engine(), target),
                                          dnnl::memory(pd.scratchpad_desc(), engine(), scratch.back().data()),
                                          {}});
    reorder->arguments = {{{DNNL_ARG_FROM, reorder->from.get()},
                           {DNNL_ARG_TO, reorder->to.get()},
                           {DNNL_ARG_SCRATCHPAD, reorder->scratch.get()}}};
    return [reorder] { reorder->run(); };
  }
};

WorkingWeights::WorkingWeights(std::shared_ptr<const ParameterLayout> layout, const float* parameters)
    : copies_(std::make_unique<Copies>()) {
  const ParameterLayout::Descriptors& descriptors = layout->descriptors();
  copies_->bytes = AlignedBuffer<std::byte>(descriptors.working_bytes);
  for (const auto& [slot, form, offset] : descriptors.working) {
    const Desc& from = descriptors.descs[slot];
    // oneDNN's type for memory has no const, although it only reads the parameters.
    auto* const source = const_cast<float*>(parameters) + layout->slots()[slot].offset;
    std::byte* const target = copies_->bytes.data() + offset;
    auto make = form.kind == WeightForm::Kind::kReordered
                    ? copies_->reordering(from, source, form.desc, target)
                    : [=, form = form] { form.transform(source, reinterpret_cast<float*>(target)); };
    copies_->copies.push_back({std::move(make), offset + form.desc.get_size()});
  }
  copies_->layout = std::move(layout);
}

WorkingWeights::~WorkingWeights() = default;

bool WorkingWeights::empty() const { return copies_->copies.empty(); }
const std::byte* WorkingWeights::data() const { return copies_->bytes.data(); }

std::size_t predict_working_bytes(const ParameterLayout& layout) {
  return layout.descriptors().working_bytes;
}

// A part makes the copies whose end lies in its share of the bytes.
void WorkingWeights::refresh(int part, int parts) const {
  const std::size_t total = copies_->bytes.size();
  const auto cut = [&](int i) {
    return total * static_cast<std::size_t>(i) / static_cast<std::size_t>(parts);
  };
  for (const Copies::Copy& copy : copies_->copies) {
    if (copy.end > cut(part) && copy.end <= cut(part + 1)) copy.make();
  }
}

}  // namespace convoke::nn
