#pragma once
#include <span>

#include "convoke/nn/losses/loss.hpp"

namespace convoke::nn {

/// Judges outputs that are values of the activation that is part of `loss`, not its inputs: Loss::judge() of
/// the logits that belong to them, with the gradient by the outputs. `logits`: memory for all outputs. NaN
/// stays NaN.
LossTally judge_probabilities(const Loss& loss, Judged samples, std::span<float> logits, float* gradient);

}  // namespace convoke::nn
