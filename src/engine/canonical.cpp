#include "convoke/engine/canonical.hpp"

#include <fmt/format.h>

#include <unordered_map>

#include "convoke/core/aligned_buffer.hpp"
#include "convoke/core/error.hpp"

namespace convoke::engine {
namespace {

// Calls action(slot, its canonical parameter) for each slot of a layout.
template <class Action>
void for_each_slot(std::span<const CanonicalParameter> parameters, const nn::ParameterLayout& layout,
                   Action action) {
  std::unordered_map<std::string_view, const CanonicalParameter*> by_name;
  for (const CanonicalParameter& parameter : parameters) by_name.emplace(parameter.name, &parameter);
  for (const nn::ParameterSlot& slot : layout.slots()) action(slot, *by_name.at(slot.name));
}

// Returns the floats of a slot: those of the array if it is in fp32, or memory in `copy`.
std::span<float> floats_of(const nn::ParameterSlot& slot, const StateArray& state,
                           AlignedBuffer<float>& copy) {
  if (!state.floats().empty()) return state.floats().subspan(slot.offset, slot.size);
  copy = AlignedBuffer<float>(slot.size);
  return copy.span();
}

}  // namespace

std::vector<CanonicalParameter> canonical_parameters(const nn::Graph& graph) {
  std::vector<CanonicalParameter> parameters;
  std::size_t offset = 0;
  for (const nn::Node& node : graph.nodes()) {
    for (const nn::ParameterSpec& spec : node.parameters) {
      parameters.push_back({node.name + "." + spec.name, spec.shape, offset, spec.trainable});
      offset += parameters.back().size();
    }
  }
  return parameters;
}

std::size_t canonical_values(std::span<const CanonicalParameter> parameters) {
  return parameters.empty() ? 0 : parameters.back().offset + parameters.back().size();
}

std::vector<float> unpack(std::span<const CanonicalParameter> parameters, const nn::ParameterLayout& layout,
                          std::span<const float> arena) {
  std::vector<float> canonical(canonical_values(parameters));
  for_each_slot(parameters, layout, [&](const auto& slot, const CanonicalParameter& parameter) {
    layout.unpack(slot, arena, std::span(canonical).subspan(parameter.offset, parameter.size()));
  });
  return canonical;
}

std::vector<float> unpack(std::span<const CanonicalParameter> parameters, const nn::ParameterLayout& layout,
                          const StateArray& state) {
  std::vector<float> canonical(canonical_values(parameters));
  for_each_slot(parameters, layout, [&](const auto& slot, const CanonicalParameter& parameter) {
    if (slot.offset + slot.size > state.size()) return;
    AlignedBuffer<float> copy;
    const std::span<float> values = floats_of(slot, state, copy);
    if (copy.size() > 0) state.read(slot.offset, values);
    layout.unpack_slot(slot, values, std::span(canonical).subspan(parameter.offset, parameter.size()));
  });
  return canonical;
}

void pack(std::span<const CanonicalParameter> parameters, const nn::ParameterLayout& layout,
          std::span<const float> canonical, std::span<float> arena) {
  ensure(arena.size() >= layout.size(), "an arena has the size of the layout");
  pack(parameters, layout, canonical, StateArray(arena));
}

void pack(std::span<const CanonicalParameter> parameters, const nn::ParameterLayout& layout,
          std::span<const float> canonical, const StateArray& state) {
  if (canonical.size() != canonical_values(parameters)) {
    throw Error(fmt::format("the model has {} parameters, but {} values are given for them",
                            canonical_values(parameters), canonical.size()));
  }
  for_each_slot(parameters, layout, [&](const auto& slot, const CanonicalParameter& parameter) {
    if (slot.offset + slot.size > state.size()) return;
    AlignedBuffer<float> copy;
    const std::span<float> values = floats_of(slot, state, copy);
    layout.pack_slot(slot, canonical.subspan(parameter.offset, parameter.size()), values);
    if (copy.size() > 0) state.write(slot.offset, values);
  });
}

}  // namespace convoke::engine
