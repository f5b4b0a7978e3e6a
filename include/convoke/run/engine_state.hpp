#pragma once
#include <functional>
#include <optional>
#include <span>
#include <string>

#include "convoke/engine/canonical.hpp"
#include "convoke/engine/lane_engine.hpp"
#include "convoke/mpi/communicator.hpp"
#include "convoke/run/checkpoint.hpp"
#include "convoke/run/initial_weights.hpp"

namespace convoke::run {

/// Parameters, their average and optimizer state (`slots` arrays) of an engine -> the arrays of `state`,
/// canonical.
void capture(engine::LaneEngine& engine, std::size_t slots,
             std::span<const engine::CanonicalParameter> parameters, CheckpointState& state);

/// The newest usable checkpoint, read by the root of `group`, on all its ranks. Collective. Throws Error as
/// Checkpoints::newest, on all ranks.
std::optional<CheckpointState> newest_for_all(const Checkpoints& checkpoints, const mpi::Communicator& group,
                                              const std::function<void(const std::string&)>& note);

/// The inverse of capture(), number of updates included; `state` loses its arrays. Throws Error if they do
/// not fit.
void restore(CheckpointState& state, std::size_t slots,
             std::span<const engine::CanonicalParameter> parameters, engine::LaneEngine& engine);

/// Puts the weights that are given into an engine; the others stay as they are.
void apply(const InitialWeights& weights, std::span<const engine::CanonicalParameter> parameters,
           engine::LaneEngine& engine);

}  // namespace convoke::run
