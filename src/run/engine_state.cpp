#include "convoke/run/engine_state.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "convoke/core/error.hpp"
#include "convoke/mpi/together.hpp"
#include "convoke/run/collective.hpp"

namespace convoke::run {
void capture(engine::StepEngine& engine, std::size_t slots,
             std::span<const engine::CanonicalParameter> parameters, CheckpointState& state) {
  state.parameters = engine::unpack(parameters, engine.layout(), engine.parameters());
  state.optimizer.clear();
  for (std::size_t slot = 0; slot < slots; ++slot) {
    state.optimizer.push_back(engine::unpack(parameters, engine.layout(), engine.optimizer_state(slot)));
  }
  state.average.clear();
  if (!engine.average().empty()) {
    state.average = engine::unpack(parameters, engine.layout(), engine.average());
  }
}

std::optional<CheckpointState> newest_for_all(const Checkpoints& checkpoints, const mpi::Communicator& group,
                                              const std::function<void(const std::string&)>& note) {
  if (group.size() == 1) return checkpoints.newest(note);
  const std::string bytes = on_root(group, [&] { return checkpoints.newest_bytes(note); });
  if (bytes.empty()) return std::nullopt;
  return mpi::together(group, [&] { return checkpoints.from_bytes(bytes); });
}

void restore(CheckpointState& state, std::size_t slots,
             std::span<const engine::CanonicalParameter> parameters, engine::StepEngine& engine) {
  if (state.optimizer.size() != slots) {
    throw Error(fmt::format("the checkpoint has {} optimizer state arrays, but the optimizer needs {}",
                            state.optimizer.size(), slots));
  }
  if (state.average.empty() != engine.average().empty()) {
    throw Error(state.average.empty() ? "the checkpoint has no moving average of the parameters"
                                      : "the checkpoint has a moving average, but train.ema is off");
  }
  engine.set_steps_done(state.updates);
  if (engine.writes()) {
    engine::pack(parameters, engine.layout(), state.parameters, engine.parameters());
    for (std::size_t slot = 0; slot < slots; ++slot) {
      engine::pack(parameters, engine.layout(), state.optimizer[slot], engine.optimizer_state(slot));
    }
    if (!state.average.empty()) {
      engine::pack(parameters, engine.layout(), state.average, engine.average());
    }
  }
  state.parameters = {};
  state.optimizer = {};
  state.average = {};
  state.change = {};
  state.other_optimizers = {};
}

void apply(const InitialWeights& weights, std::span<const engine::CanonicalParameter> parameters,
           engine::StepEngine& engine) {
  if (!engine.writes()) return;
  std::vector<float> values = engine::unpack(parameters, engine.layout(), engine.parameters());
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const auto at = static_cast<std::ptrdiff_t>(parameters[i].offset);
    if (weights.given[i]) std::copy_n(weights.values.begin() + at, parameters[i].size(), values.begin() + at);
  }
  engine::pack(parameters, engine.layout(), values, engine.parameters());
}

}  // namespace convoke::run
