#pragma once
#include <functional>
#include <optional>
#include <span>
#include <string>

#include "convoke/engine/canonical.hpp"
#include "convoke/engine/step_engine.hpp"
#include "convoke/mpi/communicator.hpp"
#include "convoke/run/checkpoint.hpp"
#include "convoke/run/initial_weights.hpp"

namespace convoke::run {

/// Copies parameters, their average and optimizer state (`slots` arrays) of an engine to the arrays of
/// `state`, canonical.
void capture(engine::StepEngine& engine, std::size_t slots,
             std::span<const engine::CanonicalParameter> parameters, CheckpointState& state);

/// Returns on all ranks of `group` the newest usable checkpoint, which the root reads. Collective. Throws
/// Error on all ranks as Checkpoints::newest does.
std::optional<CheckpointState> newest_for_all(const Checkpoints& checkpoints, const mpi::Communicator& group,
                                              const std::function<void(const std::string&)>& note);

/// Restores what capture() saved, including the number of updates; takes the arrays out of `state`. The
/// engine's group must have a collective operation after it (StepEngine::writes). Throws Error if they do not
/// fit.
void restore(CheckpointState& state, std::size_t slots,
             std::span<const engine::CanonicalParameter> parameters, engine::StepEngine& engine);

/// Copies the given weights into an engine; the other weights do not change. The engine's group must have a
/// collective operation after it (StepEngine::writes).
void apply(const InitialWeights& weights, std::span<const engine::CanonicalParameter> parameters,
           engine::StepEngine& engine);

}  // namespace convoke::run
