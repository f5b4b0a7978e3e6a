#pragma once
#include <span>

#include "convoke/nn/losses/loss.hpp"

namespace convoke::nn {

/// Loss::compute() for outputs that are values of the activation that is part of `loss`, not its inputs:
/// computes the loss of the logits that belong to them, and the gradient by the outputs. `logits`: memory for
/// all outputs. NaN stays NaN.
LossSums loss_of_probabilities(const Loss& loss, LossInputs samples, std::span<float> logits,
                               float* gradient);

}  // namespace convoke::nn
