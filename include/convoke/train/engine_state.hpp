#pragma once
#include <span>

#include "convoke/train/canonical.hpp"
#include "convoke/train/checkpoint.hpp"
#include "convoke/train/lane_engine.hpp"

namespace convoke::train {

/// Parameters and optimizer state (`slots` arrays) of an engine -> the arrays of `state`, canonical.
void capture(LaneEngine& engine, std::size_t slots, std::span<const CanonicalParameter> parameters,
             CheckpointState& state);

/// The inverse, number of updates included; `state` loses its arrays. Throws Error if they do not fit.
void restore(CheckpointState& state, std::size_t slots, std::span<const CanonicalParameter> parameters,
             LaneEngine& engine);

}  // namespace convoke::train
