#pragma once
#include <span>

#include "convoke/engine/canonical.hpp"
#include "convoke/engine/lane_engine.hpp"
#include "convoke/run/checkpoint.hpp"

namespace convoke::run {

/// Parameters, their average and optimizer state (`slots` arrays) of an engine -> the arrays of `state`,
/// canonical.
void capture(engine::LaneEngine& engine, std::size_t slots,
             std::span<const engine::CanonicalParameter> parameters, CheckpointState& state);

/// The inverse, number of updates included; `state` loses its arrays. Throws Error if they do not fit.
void restore(CheckpointState& state, std::size_t slots,
             std::span<const engine::CanonicalParameter> parameters, engine::LaneEngine& engine);

}  // namespace convoke::run
