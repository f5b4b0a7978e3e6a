#pragma once
#include <cstddef>
#include <span>
#include <string_view>

#include "convoke/nn/graph.hpp"
#include "convoke/nn/losses/loss.hpp"

// What the numbers are that a network ends in. It is a property of the value, not of the last layer: a
// softmax is followed through layers that keep probabilities, such as flatten, slices, means and clamps.

namespace convoke::nn {

/// Returns the activation whose values the outputs of `graph` are for every input: "softmax" if a sample's
/// outputs are at least 0 and have the sum 1, "sigmoid" if each output lies in [0, 1], "" if neither is
/// known.
std::string_view activation_of_outputs(const Graph& graph);

/// True if no number of this node's value is below 0, for every input.
bool never_negative(const Graph& graph, std::size_t node);

/// True if the outputs of `graph` are values of loss.activation(); false if they are its inputs (logits). The
/// key `outputs` of the loss decides, or with "auto" the network. True for a loss without activation.
bool outputs_are_activated(const Graph& graph, const Loss& loss);

/// True if a network with so many outputs per sample predicts the label as a number, which has no
/// probabilities: one output, and a loss without activation (mean squared error).
bool predicts_number(const Loss& loss, std::int64_t outputs_per_sample);

/// Returns false if `outputs`, (n, k), cannot be values of `activation`: one of them is not in [0, 1], or,
/// for "softmax", the k outputs of a sample do not have the sum 1. The tolerance is that of bf16.
bool look_activated(std::span<const float> outputs, std::int64_t k, std::string_view activation);

/// Loss::compute() for outputs that are values of the activation that is part of `loss`, not its inputs:
/// computes the loss of the logits that belong to them, and the gradient by the outputs. `logits`: memory for
/// all outputs. NaN stays NaN.
LossSums loss_of_probabilities(const Loss& loss, LossInputs samples, std::span<float> logits,
                               float* gradient);

}  // namespace convoke::nn
