#pragma once
#include "nn/plan/plan_builder.hpp"

namespace convoke::nn {

/// What is dropped as a whole.
enum class Drop { kChannels, kSamples };

/// Compiles a node that in training zeroes whole channels, or samples, with probability `rate` and scales the
/// others by 1 / (1 - rate). Channel c of a sample takes word c / 16 % 4 of the Philox counter
/// (c / 64 * 16 + c % 16, node, sample, 0), as an element of dropout does; a sample that of channel 0.
void compile_drop_channels(PlanBuilder& plan, const Node& node, double rate, Drop what);

}  // namespace convoke::nn
