#include "convoke/nn/plan/parameters.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <vector>

#include "convoke/core/aligned_buffer.hpp"
#include "convoke/core/error.hpp"
#include "convoke/core/random.hpp"
#include "convoke/nn/backend.hpp"
#include "nn/plan/parameter_descriptors.hpp"
#include "nn/plan/plan_builder.hpp"

namespace convoke::nn {
namespace {

constexpr std::size_t kAlignFloats = AlignedBuffer<float>::kAlignment / sizeof(float);

std::size_t aligned(std::size_t floats) { return (floats + kAlignFloats - 1) / kAlignFloats * kAlignFloats; }

/// Returns the plain layout of canonical values in the dims of `desc`: row-major, as OIHW and OI.
Desc plain_like(const Desc& desc) {
  const Dims dims = dims_of(desc);
  static constexpr Format kFormats[] = {Format::a, Format::ab, Format::abc, Format::abcd, Format::abcde};
  return Desc(dims, kFloat, kFormats[dims.size() - 1]);
}

// oneDNN's type for memory has no const, although it only reads `source`.
void reorder(const Desc& from, const float* source, const Desc& to, float* target) {
  dnnl::memory in(from, engine(), const_cast<float*>(source));
  dnnl::memory out(to, engine(), target);
  dnnl::stream execution = stream();
  dnnl::reorder(in, out).execute(execution, in, out);
}

// FNV-1a hash.
void mix(std::uint64_t& hash, std::uint64_t value) {
  for (int byte = 0; byte < 8; ++byte) {
    hash ^= value >> (8 * byte) & 0xFF;
    hash *= 0x100000001B3;
  }
}

std::uint64_t hash_of(std::span<const ParameterSlot> slots, const std::vector<Desc>& descs) {
  std::uint64_t hash = 0xCBF29CE484222325;
  for (std::size_t i = 0; i < slots.size(); ++i) {
    mix(hash, slots[i].offset);
    mix(hash, slots[i].size);
    for (const auto dim : dims_of(descs[i])) mix(hash, static_cast<std::uint64_t>(dim));
    const BlockedFormat format = blocked_format(descs[i]);
    for (const auto stride : format.strides) mix(hash, static_cast<std::uint64_t>(stride));
    for (const auto& [size, axis] : format.inner) {
      mix(hash, static_cast<std::uint64_t>(size));
      mix(hash, static_cast<std::uint64_t>(axis));
    }
  }
  return hash;
}

void check_sizes(const ParameterSlot& slot, std::span<const float> canonical, std::span<const float> values) {
  ensure(
      static_cast<std::int64_t>(canonical.size()) == slot.spec.shape.elements() && values.size() == slot.size,
      "a parameter has the sizes of its slot");
}

}  // namespace

std::size_t ParameterLayout::Descriptors::find(std::size_t node, std::string_view parameter) const {
  const auto it = std::find_if(keys.begin(), keys.end(),
                               [&](const auto& key) { return key.first == node && key.second == parameter; });
  ensure(it != keys.end(), "every parameter has a layout");
  return static_cast<std::size_t>(it - keys.begin());
}

std::optional<std::size_t> ParameterLayout::Descriptors::find_working(std::size_t slot,
                                                                      const WeightForm& form) const {
  const auto it = std::find_if(working.begin(), working.end(),
                               [&](const Working& copy) { return copy.slot == slot && copy.form == form; });
  return it == working.end() ? std::nullopt : std::optional(it->offset);
}

ParameterLayout::ParameterLayout(const Graph& graph, std::int64_t micro_batch, ConvolutionChoice convolution,
                                 Precision precision, bool training, bool post_ops)
    : descriptors_(std::make_unique<Descriptors>()) {
  const CompiledPlan dry_run = compile(graph, nullptr,
                                       {.micro_batch = micro_batch,
                                        .micro_batches = 1,
                                        .training = training,
                                        .convolution = convolution,
                                        .precision = precision,
                                        .post_ops = post_ops});
  const auto add_slot = [&](const Node& node, const ParameterSpec& spec) {
    const Desc desc = dry_run.preferred.at({node.index, spec.name});
    ParameterSlot slot{node.name + "." + spec.name, node.index, spec, size_,
                       aligned(desc.get_size() / sizeof(float))};
    size_ += slot.size;
    slots_.push_back(std::move(slot));
    descriptors_->descs.push_back(desc);
    descriptors_->keys.emplace_back(node.index, spec.name);
  };
  // Visits the last node first, as backward does.
  const auto add_slots = [&](const auto& wanted) {
    for (auto node = graph.nodes().rbegin(); node != graph.nodes().rend(); ++node) {
      for (const ParameterSpec& spec : node->parameters) {
        if (wanted(spec)) add_slot(*node, spec);
      }
    }
    return size_;
  };
  trainable_size_ = add_slots([](const ParameterSpec& spec) { return spec.trainable; });
  gradient_size_ = add_slots([](const ParameterSpec& spec) { return spec.statistic(); });
  add_slots([](const ParameterSpec& spec) { return spec.frozen; });
  hash_ = hash_of(slots_, descriptors_->descs);
  for (const auto& [key, form] : dry_run.wanted) {
    descriptors_->working.push_back(
        {descriptors_->find(key.first, key.second), form, descriptors_->working_bytes});
    descriptors_->working_bytes += aligned(form.desc.get_size() / sizeof(float) + 1) * sizeof(float);
  }
}

ParameterLayout::~ParameterLayout() = default;

const ParameterSlot& ParameterLayout::slot(const std::string& name) const {
  const auto it =
      std::find_if(slots_.begin(), slots_.end(), [&](const ParameterSlot& s) { return s.name == name; });
  if (it == slots_.end()) throw Error(fmt::format("the network has no parameter \"{}\"", name));
  return *it;
}

void ParameterLayout::pack(const ParameterSlot& slot, std::span<const float> canonical,
                           std::span<float> arena) const {
  ensure(arena.size() >= size_, "an arena has the size of the layout");
  pack_slot(slot, canonical, arena.subspan(slot.offset, slot.size));
}

void ParameterLayout::unpack(const ParameterSlot& slot, std::span<const float> arena,
                             std::span<float> canonical) const {
  ensure(arena.size() >= size_, "an arena has the size of the layout");
  unpack_slot(slot, arena.subspan(slot.offset, slot.size), canonical);
}

void ParameterLayout::pack_slot(const ParameterSlot& slot, std::span<const float> canonical,
                                std::span<float> values) const {
  check_sizes(slot, canonical, values);
  const Desc& desc = descriptors_->descs[static_cast<std::size_t>(&slot - slots_.data())];
  reorder(plain_like(desc), canonical.data(), desc, values.data());
}

void ParameterLayout::unpack_slot(const ParameterSlot& slot, std::span<const float> values,
                                  std::span<float> canonical) const {
  check_sizes(slot, canonical, values);
  const Desc& desc = descriptors_->descs[static_cast<std::size_t>(&slot - slots_.data())];
  reorder(desc, values.data(), plain_like(desc), canonical.data());
}

AlignedBuffer<float> initial_parameters(const ParameterLayout& layout, std::uint64_t seed) {
  AlignedBuffer<float> arena(layout.size());
  std::vector<float> canonical;
  for (const ParameterSlot& slot : layout.slots()) {
    canonical.resize(static_cast<std::size_t>(slot.spec.shape.elements()));
    // The parameter's node and name are the address, so that its values do not depend on the order of the
    // arena.
    std::uint64_t address = slot.node;
    for (const char c : slot.spec.name) mix(address, static_cast<unsigned char>(c));
    const ParameterSpec& spec = slot.spec;
    spec.initializer.fill(spec.shape, spec.fan_in, spec.fan_out, {seed, Purpose::kWeights, 0, address},
                          canonical);
    layout.pack(slot, canonical, arena.span());
  }
  return arena;
}

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
    std::function<void(bool shared)> make;
    std::size_t end;  ///< end of the copy in bytes from the start
  };
  std::shared_ptr<const ParameterLayout> layout;
  AlignedBuffer<std::byte> bytes;
  std::vector<AlignedBuffer<std::byte>> scratch;
  std::vector<Copy> copies;

  std::function<void(bool)> reordering(const Desc& from, float* source, const Desc& to, std::byte* target) {
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
    return [reorder](bool) { reorder->run(); };
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
                    : [=, form = form, floats = layout->slots()[slot].size](bool shared) {
                        // The update may have written them past the caches, and transforms read them out of
                        // order.
                        for (std::size_t i = 0; i < floats; i += kAlignFloats) __builtin_prefetch(source + i);
                        form.transform(source, reinterpret_cast<float*>(target), shared);
                      };
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
    if (copy.end > cut(part) && copy.end <= cut(part + 1)) copy.make(parts > 1);
  }
}

}  // namespace convoke::nn
